// The sections of a mapping's form: what each has, and which are open.
import { useState } from 'react'

/** `parts`: what of the mapping is in it, as it is called there. */
export const SECTIONS = [
  { name: 'offers', title: 'Offers', parts: { offers: 'List of offers', id: 'ID', name: 'Name' } },
  { name: 'link', title: 'Link', parts: { link: 'Set' } },
  { name: 'payment', title: 'Payment', parts: { payout: 'Payout', currency: 'Currency', goals: 'Goals', not_fixed: 'Percentages' } },
  { name: 'texts', title: 'Texts', parts: { description: 'Description', requirements: 'Requirements', image: 'Picture', time_estimate: 'Time estimate', time_seconds: 'Time in seconds', language: 'Language' } },
  { name: 'where', title: 'Where it runs', parts: { countries: 'Countries', by_country: 'Payouts by country', platforms: 'Platforms', starts_at: 'Starts', ends_at: 'Ends' } },
  { name: 'kind', title: 'Type', parts: { category: 'Category', difficulty: 'Difficulty', conversion_type: 'Conversion type', product: 'Product' } },
  { name: 'caps', title: 'Caps', parts: { caps: 'Caps' } },
  { name: 'left_out', title: 'Skipped', parts: { skip: 'Rules', success: 'Successful response' } },
] as const // prettier-ignore

export type Section = (typeof SECTIONS)[number]
export type SectionName = Section['name']

/** Parts of a mapping that have a field, at which their problems stand. */
export const SHOWN: readonly string[] = SECTIONS.flatMap(({ parts }) => Object.keys(parts))

const partOf = (place: string) => place.split(/[.[]/)[0] ?? ''
export const isIn = ({ parts }: Section, place: string) => Object.hasOwn(parts, partOf(place))

/**
 * `wrong`: the places of problems; `errors`: those for which a form was refused.
 *
 * The first section is open, and those where something is wrong: each opens when that is found, and again when the form is
 * sent. What a person closes stays closed until then.
 */
export function useOpenSections(wrong: readonly string[], errors: readonly string[]) {
  const [open, setOpen] = useState<SectionName[]>(['offers'])
  const found = useNew(SECTIONS.filter((section) => wrong.some((place) => isIn(section, place))))
  const refused = useNew(SECTIONS.filter((section) => errors.some((place) => isIn(section, place))))
  const more = [...found, ...refused].map(({ name }) => name).filter((name) => !open.includes(name))
  // While it is rendered: what shows the first problem of a form finds it on the page.
  if (more.length > 0) setOpen([...new Set([...open, ...more])])
  return { open, setOpen }
}

/** Those that were not among them before. */
function useNew(sections: Section[]): Section[] {
  const [before, setBefore] = useState<Section[]>([])
  const isSame = before.length === sections.length && sections.every((one) => before.includes(one))
  if (!isSame) setBefore(sections)
  return isSame ? [] : sections.filter((one) => !before.includes(one))
}
