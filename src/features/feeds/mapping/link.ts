import type { Link } from './mapping.ts'
import { readText } from './texts.ts'

/** The upstream's link with our macros in it. Null: there is no link, which means that the offer is not approved. */
export function writeLink({ path, set = {}, replace = {}, append = '' }: Link, item: unknown): string | null {
  let link = readText({ path }, item)
  if (link === '') return null
  for (const [placeholder, macro] of Object.entries(replace)) {
    const encoded = encodeURIComponent(placeholder)
    link = link.replaceAll(placeholder, macro).replaceAll(encoded, macro).replaceAll(encoded.toLowerCase(), macro)
  }
  link += append
  return Object.entries(set).reduce((written, [name, value]) => setParameter(written, name, value), link)
}

/** The rest stays as it is, byte for byte: what is encoded otherwise can mean something else to the upstream. */
function setParameter(link: string, name: string, value: string): string {
  const [, before = '', query, fragment = ''] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(link) ?? []
  const pair = `${encodeURIComponent(name)}=${value.replaceAll(/\{\w+\}|[^{]+|\{/g, (part) => (/^\{\w+\}$/.test(part) ? part : encodeURIComponent(part)))}` // prettier-ignore
  const pairs = (query ?? '').slice(1).split('&')
  const isSet = (one: string) => [...new URLSearchParams(one).keys()][0] === name
  const place = pairs.findIndex(isSet)
  const rest = pairs.filter((one, i) => i === place || !isSet(one))
  const all = place === -1 ? [...rest.filter((one, i) => one !== '' || i < rest.length - 1), pair] : rest.map((one, i) => (i === place ? pair : one)) // prettier-ignore
  return `${before}?${all.join('&')}${fragment}`
}
