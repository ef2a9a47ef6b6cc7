// What the log keeps of a call about a user who was erased: the parameters that are read, so that it can be processed
// again, and nothing else that the advertiser sent along, such as the user's ID, sub-IDs or IP address.
import { POSTBACK_PARAMETERS } from '../../accounts/advertiser-settings.ts'
import type { InboundCall } from './inbound-call.ts'
import { type Dialect, looksLikeJson, namesOf, parseJson } from './parameters.ts'

type CallText = Pick<InboundCall, 'query' | 'body' | 'ip'>

export function redactCall(
  { query, body }: Pick<CallText, 'query' | 'body'>,
  dialect: Pick<Dialect, 'aliases' | 'callRules'>,
): CallText {
  const read = POSTBACK_PARAMETERS.filter((name) => name !== 'ip')
  const ignored = dialect.callRules.ignored?.map(({ parameter }) => parameter) ?? [] // or it would count when processed again
  const names = new Set([...read.flatMap((name) => namesOf(name, dialect)), ...ignored])
  const isKept = (name: string) => names.has(name)
  return { query: redactForm(query, isKept), body: redactBody(body, isKept), ip: null }
}

const redactForm = (text: string, isKept: (name: string) => boolean) =>
  text
    .split('&')
    .filter((pair) => isKept([...new URLSearchParams(pair).keys()][0] ?? ''))
    .join('&')

function redactBody(text: string, isKept: (name: string) => boolean): string {
  if (!looksLikeJson(text)) return redactForm(text.trim(), isKept)
  const raw = parseJson(text) // keeps all digits of a transaction
  const kept = [...(raw ?? [])].filter(([name]) => isKept(name)).map(([name, [value]]) => [name, value])
  return JSON.stringify(Object.fromEntries(kept))
}
