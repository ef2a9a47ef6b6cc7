// What the log keeps of a call about a user who was erased: the parameters that are read, so that it can be processed
// again, and nothing else that the advertiser sent along, such as the user's ID, sub-IDs or IP address.
import { POSTBACK_PARAMETERS } from '../../accounts/advertiser-settings.ts'
import { saysSo } from './ignored-calls.ts'
import type { InboundCall } from './inbound-call.ts'
import { type Dialect, looksLikeJson, namesOf, parseJson } from './parameters.ts'

type CallText = Pick<InboundCall, 'query' | 'body' | 'ip'>

/** `clickId`: stays under whatever name it came, because the name may be mapped later. */
export function redactCall(
  { query, body, clickId }: Pick<InboundCall, 'query' | 'body' | 'clickId'>,
  dialect: Pick<Dialect, 'aliases' | 'callRules'>,
): CallText {
  const read = POSTBACK_PARAMETERS.filter((name) => name !== 'ip')
  const names = new Set(read.flatMap((name) => namesOf(name, dialect)))
  // What it is ignored for, or it would count when processed again: no other value of a parameter that may name a user.
  const isIgnored = (name: string, value: string) => dialect.callRules.ignored?.some((rule) => rule.parameter === name && saysSo(rule, value)) ?? false // prettier-ignore
  const isClick = (value: string) => clickId !== null && value.trim().toLowerCase() === clickId
  const isKept = (name: string, value: string) => names.has(name) || isIgnored(name, value) || isClick(value)
  return { query: redactForm(query, isKept), body: redactBody(body, isKept), ip: null }
}

type IsKept = (name: string, value: string) => boolean

const redactForm = (text: string, isKept: IsKept) =>
  text
    .split('&')
    .filter((pair) => [...new URLSearchParams(pair)].some(([name, value]) => isKept(name, value)))
    .join('&')

function redactBody(text: string, isKept: IsKept): string {
  if (!looksLikeJson(text)) return redactForm(text.trim(), isKept)
  const raw = parseJson(text) // keeps all digits of a transaction
  const kept = [...(raw ?? [])]
    .filter(([name, [value = '']]) => isKept(name, value))
    .map(([name, [value]]) => [name, value])
  return JSON.stringify(Object.fromEntries(kept))
}
