// Values as a schema wants them, and as the system would accept them as far as names tell.
import { randomUUID } from 'node:crypto'
import { PRESETS } from '../../../src/features/feeds/presets/presets.ts'
import { PASSWORD } from '../../people.ts'
import type { Random } from '../random.ts'
import type { Schema } from './description.ts'
import type { Harvest } from './harvest.ts'
import type { Ids } from './ids.ts'

export type Sources = { ids: Ids; harvest: Harvest; receiverUrl: string }

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const DAY_MS = 86_400_000
const LETTERS = 'abcdefghijklmnopqrstuvwxyz'
const HEX = '0123456789abcdef'

/** Few, so that they meet again. */
const USERS = 400
export const anyUser = (random: Random) => `user-${random.int(1, USERS)}`

export class Values {
  readonly #random: Random
  readonly #sources: Sources

  constructor(random: Random, sources: Sources) {
    this.#random = random
    this.#sources = sources
  }

  of(schema: Schema, name: string): unknown {
    const random = this.#random
    if (schema.additionalProperties === true && name in FREE) return structuredClone(random.pick(FREE[name] ?? []))
    if (schema.const !== undefined) return schema.const
    if (schema.enum !== undefined) return random.pick(schema.enum)
    const either = schema.anyOf ?? schema.oneOf
    if (either !== undefined) return this.of(random.pick(either), name)
    if (schema.allOf !== undefined) return Object.assign({}, ...schema.allOf.map((one) => this.of(one, name) as object)) as object // prettier-ignore
    const types = [schema.type ?? (schema.properties ? 'object' : 'string')].flat()
    const type = types.length > 1 && random.chance(0.7) ? types.find((one) => one !== 'null') : random.pick(types)
    if (type === 'object') return this.#object(schema, name)
    if (type === 'array') return this.#array(schema, name)
    if (type === 'integer' || type === 'number') return this.#number(schema, name, type)
    if (type === 'boolean') return random.chance(0.5)
    return type === 'null' ? null : this.#string(schema, name)
  }

  #object({ properties = {}, required = [], additionalProperties }: Schema, name: string): Record<string, unknown> {
    const random = this.#random
    const share = random.pick([0, 0.2, 0.5, 1])
    const value: Record<string, unknown> = {}
    for (const [key, schema] of Object.entries(properties))
      if (required.includes(key) || random.chance(share)) value[key] = this.of(schema, key)
    if (typeof additionalProperties === 'object' && Object.keys(properties).length === 0)
      for (let i = random.int(0, 2); i > 0; i--)
        value[this.#keyOf(name)] = this.of(additionalProperties, name === 'translations' ? 'texts' : name)
    if (!('destination_url' in properties) || random.chance(0.4)) return value
    const needed = { ...OFFER, external_id: `x-${random.int(1, 3_000)}` }
    const usual = Object.entries(needed).filter(([key]) => key in properties)
    return { ...Object.fromEntries(usual), ...(value['advertiser_id'] === undefined ? {} : { advertiser_id: value['advertiser_id'] }) } // prettier-ignore
  }

  #keyOf(name: string): string {
    const { pick, text } = this.#bound
    if (name === 'translations') return pick(['de', 'es', 'fr'])
    if (name === 'texts') return pick(['name', 'description'])
    return name === 'headers' ? `X-${text(LETTERS, 5)}` : pick(['name', 'description', 'EUR', 'a', 'key', 'approved'])
  }

  #array({ items = {}, minItems = 0, maxItems = 3 }: Schema, name: string): unknown[] {
    const length = this.#random.int(minItems, Math.max(minItems, Math.min(maxItems, 3)))
    return Array.from({ length }, () => this.of(items, name.replace(/ies$/, 'y').replace(/s$/, '')))
  }

  #number(schema: Schema, name: string, type: string): number {
    const { pick, int, chance } = this.#bound
    const known = this.#known(name)
    if (known !== null && Number.isFinite(Number(known))) return Number(known)
    const from = schema.minimum ?? (schema.exclusiveMinimum === undefined ? 0 : schema.exclusiveMinimum + 1)
    const to = Math.min(schema.maximum ?? 1_000, chance(0.8) ? from + 100 : Infinity)
    if (chance(0.1)) return pick([from, schema.maximum ?? to])
    const whole = int(Math.ceil(from), Math.max(Math.ceil(from), Math.floor(to)))
    return type === 'integer' || chance(0.5) ? whole : Math.min(to, whole + int(1, 99) / 100)
  }

  #string(schema: Schema, name: string): string {
    const { chance } = this.#bound
    const found = chance(0.7) ? this.#known(name) : null
    const known = found !== null && new RegExp(schema.pattern ?? '', 'u').test(found) ? found : null
    const text = known ?? this.#byPattern(schema) ?? this.#byName(name) ?? this.#words()
    const { minLength = 0, maxLength = Infinity } = schema
    return text.padEnd(minLength, 'x').slice(0, maxLength)
  }

  /** An ID that exists, or what the server has said before. */
  #known(name: string): string | null {
    const { ids, harvest } = this.#sources
    const { pick, chance } = this.#bound
    const rows = ids.rows(SNAKE[name] ?? name)
    if (rows.length > 0) return pick(rows)[SNAKE[name] ?? name] ?? null
    const said = harvest.take(name)
    return said.length > 0 && chance(0.6) ? String(pick(said)) : null
  }

  #byPattern({ pattern, format }: Schema): string | null {
    const { text, int } = this.#bound
    const time = new Date(Date.now() - int(-3, 60) * DAY_MS).toISOString()
    if (format === 'date-time') return time
    if (format === 'date') return time.slice(0, 10)
    if (pattern === undefined) return null
    if (pattern.includes('{32}$')) return text(HEX, 1).repeat(32) // few visitors, so that they come again
    if (pattern.includes('{43}')) return text(LETTERS, 1).repeat(43)
    if (pattern.includes('{8}(-')) return randomUUID()
    if (pattern.startsWith('^#')) return `#${text(HEX, 6)}`
    if (pattern.includes('{64}')) return text(HEX, 64)
    if (pattern.includes('d{1,12}')) return String(Math.floor(Date.now() / 1_000) + int(-100, 80_000))
    return pattern.includes('images') ? 'https://img.example.com/a.png' : null
  }

  #byName(name: string): string | null {
    const { pick, int, text, chance } = this.#bound
    const { receiverUrl } = this.#sources
    const date = () => new Date(Date.now() - int(0, 60) * DAY_MS).toISOString()
    const makers: [RegExp, () => string][] = [
      [/^user_?id$/i, () => anyUser(this.#random)],
      [/email/, () => `p${int(1, 500)}@example.com`],
      [/password/, () => (chance(0.7) ? PASSWORD : this.#words())],
      [/url$|^destination|website|^target$/, () => pick([`${receiverUrl}/${text(LETTERS, 3)}`, 'https://ads.example.com/?c={click_id}', 'https://example.com/'])],
      [/image_url|logo|hero|icon/, () => 'https://img.example.com/a.png'],
      [/^(image|content)$/, () => pick([PIXEL, 'name,category,payout,destination_url,external_id,advertiser\nA,app,1,https://a.example/,x1,Acme\n', '[{"name":"A","category":"app","payout":1,"external_id":"j1","destination_url":"https://a.example/"}]'])],
      [/^csv$/, () => pick([`conversion_id,status\n${this.#known('conversion_id') ?? ''},approved\n`, `transaction_id,status\n${this.#known('txn_id') ?? 'x-1'},approved\n`, 'currency,rate,day\nEUR,1.1,2026-01-01\n', 'EUR,1.1\n'])],
      [/country|countries/, () => pick(['US', 'DE', 'GB', 'BR'])],
      [/^(currency|from_currency)$/, () => pick(['USD', 'EUR', 'GBP'])],
      [/time_?zone/, () => pick(['UTC', 'Europe/Berlin', 'America/New_York'])],
      [/^(from|to|since|until|.*_at)$/, () => pick([date(), date().slice(0, 10)])],
      [/^month$/, () => date().slice(0, 7)],
      [/^(day|date)$/, () => date().slice(0, 10)],
      [/^(every|grace)|window|hold/, () => pick(['6h', '30m', '1d'])],
      [/payout|revenue|amount|margin|rate|budget|reward|minimum/, () => `${int(0, 20)}.${int(10, 99)}`],
      [/category|categorie/, () => pick(['survey', 'app', 'game', 'video'])],
      [/platform/, () => pick(['web', 'android', 'ios'])],
      [/^lang|locale/, () => pick(['en', 'de', 'pt-BR'])],
      [/^difficulty$/, () => pick(['easy', 'medium', 'hard'])],
      [/^conversion_type$/, () => pick(['cpa', 'cpi', 'cpl', 'install', 'survey'])],
      [/^mode$/, () => pick(['live', 'test'])],
      [/^code$/, () => String(int(100_000, 999_999))],
      [/ips?$|address/, () => pick(['10.0.0.0/8', '203.0.113.7', '2001:db8::/32'])],
      [/parent/, () => 'https://games.example.com'],
      [/preset/, () => pick(PRESETS).key],
      [/external_id|transaction|key|reference/, () => `x-${int(1, 3_000)}`],
      [/^group_?by$/i, () => pick(['day', 'offer', 'country'])],
      [/^signal$/, () => pick(['too_fast', 'bot', 'listed_ip'])],
      [/^name$/, () => pick(['apiKey', `Fuzz ${text(LETTERS, 5)}`])],
    ] // prettier-ignore
    return makers.find(([pattern]) => pattern.test(name))?.[1]() ?? null
  }

  #words(): string {
    const { text, int, chance } = this.#bound
    const words = Array.from({ length: int(1, 3) }, () => text(LETTERS, int(1, 8))).join(' ')
    return chance(0.1) ? `${words} é 漢 😀` : words
  }

  get #bound() {
    const random = this.#random
    return {
      pick: <T>(some: readonly T[]) => random.pick(some),
      int: (from: number, to: number) => random.int(from, to),
      chance: (probability: number) => random.chance(probability),
      text: (letters: string, length: number) => random.text(letters, length),
    }
  }
}

/** What an offer needs at least. */
const OFFER = { name: 'An offer', category: 'app', payout: '1.20', destination_url: 'https://ads.example.com/?c={click_id}', status: 'active', difficulty: 'easy', countries: ['US'], platforms: ['web'] } // prettier-ignore

/** What a description leaves open. */
const FREE: Record<string, readonly unknown[]> = {
  request: PRESETS.map(({ request }) => ({ ...request, url: 'http://127.0.0.2/feed' })),
  mapping: PRESETS.map(({ mapping }) => mapping),
}

/** As v1 spells them. */
const SNAKE: Record<string, string> = { offerId: 'offer_id', goalId: 'goal_id', clickId: 'click_id', conversionId: 'conversion_id', example_offer_id: 'offer_id', welcome_offer_id: 'offer_id' } // prettier-ignore
