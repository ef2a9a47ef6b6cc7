import type { Link } from './mapping.ts'
import { readText } from './texts.ts'

const KEPT = 'a-macro-stands-here-'

/** The upstream's link with our macros in it. Null: there is no link, which means that the offer is not approved. */
export function writeLink({ path, set = {}, replace = {}, append = '' }: Link, item: unknown): string | null {
  let link = readText({ path }, item)
  if (link === '') return null
  for (const [placeholder, macro] of Object.entries(replace)) {
    const encoded = encodeURIComponent(placeholder)
    link = link.replaceAll(placeholder, macro).replaceAll(encoded, macro).replaceAll(encoded.toLowerCase(), macro)
  }
  link += append
  return Object.keys(set).length === 0 ? link : setParameters(link, set)
}

/** Macros stay as they are, where a URL would encode their braces. */
function setParameters(link: string, set: Record<string, string>): string {
  const macros: string[] = []
  const hide = (text: string) => text.replaceAll(/\{\w+\}/g, (macro) => `${KEPT}${macros.push(macro) - 1}-`)
  const url = URL.parse(hide(link))
  if (url === null) return link // refused where offers are checked
  for (const [name, value] of Object.entries(set)) url.searchParams.set(name, hide(value))
  return url.href.replaceAll(new RegExp(`${KEPT}(\\d+)-`, 'g'), (_, place: string) => macros[Number(place)] as string)
}
