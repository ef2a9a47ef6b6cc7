// What each field of a mapping reads of the first offers, and what becomes of it: also while other fields are missing.
import type { Problem } from '../../../errors.ts'
import type { MoneyCap } from '../../../features/feeds/mapping/caps.ts'
import { mapOffer, type Mapped } from '../../../features/feeds/mapping/map-offer.ts'
import type { Condition, Goals, Mapping, Paths } from '../../../features/feeds/mapping/mapping.ts'
import { eachOf, readAll, scalarText } from '../../../features/feeds/mapping/paths.ts'
import { holds, readPaths } from '../../../features/feeds/mapping/texts.ts'

/** One field of one offer. `gives` is empty where nothing becomes of it. */
type TriedField = { read: string[]; gives: string; problem: string | null }
export type TriedFields = { place: string; offers: TriedField[] }[]

const MOST_OFFERS = 3
const MOST_VALUES = 30
const MOST_TEXT = 200
/** Of those that are named: others may have none that is. */
const MOST_PROBLEMS = 50

/** An offer that has all that is required: so that the field alone decides what becomes of it. */
const WHOLE = { id: '$id', name: '$name', payout: '$payout', link: { path: '$link' } }
const WHOLE_ITEM = { $id: '1', $name: 'Offer', $payout: '1', $link: 'https://network.example/?click={click_id}' }

/** Fields that change what another one means. */
const BESIDE: Record<string, (keyof Mapping)[]> = { goals: ['payout', 'currency', 'by_country'], countries: ['by_country'], payout: ['currency'], not_fixed: ['skip'] } // prettier-ignore

const RECORD: Record<string, string> = { image: 'image_url', time_seconds: 'time_estimate' }

/** `problems`: fields with one are left out. */
export function tryFields(given: Record<string, unknown>, problems: readonly Problem[], answer: unknown): TriedFields {
  const wrong = new Set(problems.map(({ field }) => field.split(/[.[]/)[1]))
  const mapping = Object.fromEntries(Object.entries(given).filter(([name]) => !wrong.has(name))) as Partial<Mapping>
  if (mapping.offers === undefined || problems.length >= MOST_PROBLEMS) return []
  const items = eachOf(readAll(mapping.offers, answer)[0])
    .filter((item) => typeof item === 'object' && item !== null)
    .slice(0, MOST_OFFERS)
  const { success } = mapping
  return [
    ...(success === undefined ? [] : [{ place: 'success', offers: [checked(success, answer)] }]),
    ...Object.keys(mapping).filter((name) => !['offers', 'success'].includes(name)).map((name) => ({ place: name, offers: items.map((item) => tryField(mapping, name as keyof Mapping, item)) })), // prettier-ignore
    ...(mapping.goals === undefined ? [] : goalFields(mapping.goals, items)),
  ]
}

function checked(condition: Condition, answer: unknown): TriedField {
  const isMet = holds(condition, answer)
  return { read: texts(readAll(condition.path, answer)), gives: isMet ? 'complete' : '', problem: isMet ? null : 'the response counts as failed' } // prettier-ignore
}

function tryField(mapping: Partial<Mapping>, name: keyof Mapping, item: object): TriedField {
  const beside = Object.fromEntries((BESIDE[name] ?? []).flatMap((one) => (mapping[one] === undefined ? [] : [[one, mapping[one]]]))) // prettier-ignore
  const { payout: _payout, ...withoutPayout } = WHOLE
  const whole = name === 'goals' ? withoutPayout : WHOLE
  const alone = { offers: '', ...whole, ...beside, [name]: mapping[name] } as Mapping
  const mapped = mapOffer(alone, { ...item, ...WHOLE_ITEM })
  const problem =
    mapped
      .map((one) => ('skipped' in one ? one.skipped : (one.offer.ignoredCaps[0] ?? null)))
      .find((one) => one !== null) ?? null
  const isPaidByGoals = name === 'payout' && mapping.goals !== undefined && readAll(`${mapping.goals.list}[]`, item).length > 0 // prettier-ignore
  if (isPaidByGoals) return { read: texts(readRaw(mapping, name, item)), gives: '', problem: null }
  const gives = [...new Set(mapped.map((one) => describe(one, name)))].filter((text) => text !== '').join(' | ')
  return { read: texts(readRaw(mapping, name, item)), gives: shorten(gives), problem }
}

function describe(mapped: Mapped, name: keyof Mapping): string {
  if ('skipped' in mapped) return ''
  const { record, goals, caps, currency } = mapped.offer
  if (name === 'id' || name === 'name') return mapped[name]
  if (name === 'payout') return goals.map((goal) => describeAmount(goal, currency)).join(', ')
  if (name === 'goals') return goals.map((goal) => `${goal.name}: ${describeAmount(goal, currency)}${goal.is_optional ? ', optional' : ''}`).join('; ') // prettier-ignore
  if (name === 'currency') return currency
  if (name === 'link') return String(record['destination_url'])
  if (name === 'caps') return describeCaps(record, caps, currency)
  if (name === 'skip' || name === 'not_fixed') return 'kept'
  if (name === 'countries' || name === 'by_country') return (record['countries'] as string[]).join(', ') || 'all countries' // prettier-ignore
  const value = record[RECORD[name] ?? name]
  return Array.isArray(value) ? value.join(', ') : String(value ?? '')
}

function describeCaps(record: Record<string, unknown>, money: readonly MoneyCap[], currency: string): string {
  const counts = Object.entries(record).filter(([field]) => field.endsWith('_cap'))
  const amounts = money.map((cap) => [cap.field, describeAmount(cap, cap.currency || currency)] as const)
  return [...counts, ...amounts].map(([field, value]) => `${field.replaceAll('_', ' ')} ${String(value)}`).join(', ')
}

const describeAmount = ({ micros }: { micros: number }, currency: string) => `${String(micros / 1_000_000)}${currency === '' ? '' : ` ${currency}`}` // prettier-ignore

/** As it stands in the answer. */
function readRaw(mapping: Partial<Mapping>, name: keyof Mapping, item: object): unknown[] {
  const value = mapping[name]
  if (name === 'goals') return readAll(`${mapping.goals!.list}[]`, item).slice(0, 1)
  if (name === 'by_country') return [mapping.by_country!.list].flat().flatMap((list) => readSource(mapping.by_country!.countries, list, item)) // prettier-ignore
  if (name === 'countries') return [mapping.countries?.include, mapping.countries?.exclude].flatMap((source) => readSource(source, null, item)) // prettier-ignore
  if (Array.isArray(value)) return value.flatMap((one) => readAll('value' in one ? one.value : one.path, item))
  return readSource(value as Source, null, item)
}

type Source = string | { path?: Paths; split?: string } | undefined

/** `list`: of each of its entries. */
function readSource(source: Source, list: string | null, item: unknown): unknown[] {
  if (source === undefined) return []
  const { path, split } = typeof source === 'string' ? { path: source, split: undefined } : source
  const entries = list === null ? [item] : readAll(`${list}[]`, item)
  const found = path === undefined ? [] : entries.flatMap((entry) => readPaths(path, entry))
  return split === undefined ? found : found.flatMap((one) => scalarText(one).split(split).map((word) => word.trim())) // prettier-ignore
}

function goalFields(goals: Goals, items: readonly object[]): TriedFields {
  return (['id', 'name', 'description'] as const).flatMap((name) => {
    const source = goals[name]
    const values = (item: object) => texts(readSource(source, goals.list, item))
    return source === undefined ? [] : [{ place: `goals.${name}`, offers: items.map((item) => ({ read: values(item), gives: '', problem: null })) }] // prettier-ignore
  })
}

const texts = (values: readonly unknown[]): string[] =>
  [...new Set(values.map((value) => shorten(typeof value === 'object' ? JSON.stringify(value) : scalarText(value))))].slice(0, MOST_VALUES) // prettier-ignore

const shorten = (text: string) => (text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}…` : text)
