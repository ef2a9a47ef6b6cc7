import { isUuid } from '../../../lib/uuid7.ts'
import type { IgnoredCall } from '../../accounts/call-rules.ts'
import type { InboundCall } from './inbound-call.ts'
import { type Dialect, namesOf, parseCall } from './parameters.ts'

/** In any case. */
export const saysSo = ({ is }: IgnoredCall, value: string) => value.trim().toLowerCase() === is.toLowerCase()

/** Why a call stands for nothing that is paid, and whose click it names; null: it has to be read. */
export function findIgnored(call: InboundCall, dialect: Dialect): { reason: string; clickId: string | null } | null {
  const { ignored = [] } = dialect.callRules
  if (ignored.length === 0 || call.isCut) return null
  const raw = parseCall(call)
  const rule = ignored.find((one) => raw?.get(one.parameter)?.some((value) => saysSo(one, value)) ?? false)
  if (rule === undefined) return null
  const clickId = namesOf('click_id', dialect).flatMap((name) => raw?.get(name)?.[0]?.trim() ?? []).find(isUuid) // prettier-ignore
  return { reason: rule.reason, clickId: clickId?.toLowerCase() ?? null }
}
