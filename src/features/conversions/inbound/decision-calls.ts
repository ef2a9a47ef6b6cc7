// A decision from a file is logged as a call of its own method. It has our names, words and IDs, whatever those of the
// advertiser mean: also where it is processed again.
import type { InboundCall } from './inbound-call.ts'
import type { Dialect } from './parameters.ts'

export const DECISION_METHOD = 'CSV'

const isDecision = ({ method }: Pick<InboundCall, 'method'>) => method === DECISION_METHOD

export const dialectFor = <D extends Dialect>(call: Pick<InboundCall, 'method'>, dialect: D): D =>
  isDecision(call) ? { ...dialect, aliases: {}, statusMap: {}, reversalPrefix: '', callRules: {} } : dialect

/** As an ID: the same text may be what the advertiser calls another goal. */
export const goalFor = (call: Pick<InboundCall, 'method'>, goal: string | null) =>
  isDecision(call) ? { goal: null, goalId: Number(goal) } : { goal }
