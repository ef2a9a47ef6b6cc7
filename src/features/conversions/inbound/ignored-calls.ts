import type { IgnoredCall } from '../../accounts/call-rules.ts'
import type { InboundCall } from './inbound-call.ts'
import { type Dialect, parseCall } from './parameters.ts'

/** In any case. */
export const saysSo = ({ is }: IgnoredCall, value: string) => value.trim().toLowerCase() === is.toLowerCase()

/** Why a call stands for nothing that is paid; null: it has to be read. */
export function findIgnored(call: InboundCall, dialect: Dialect): string | null {
  const { ignored = [] } = dialect.callRules
  if (ignored.length === 0 || call.isCut) return null
  const raw = parseCall(call)
  const rule = ignored.find((one) => raw?.get(one.parameter)?.some((value) => saysSo(one, value)) ?? false)
  return rule?.reason ?? null
}
