// What can happen to the ledger, in any order: payments, runs, voids, adjustments, conversions and chargebacks.
import fc from 'fast-check'

const CENT = 10_000

export type Step =
  | { do: 'convert'; who: number; micros: number }
  | { do: 'reverse'; who: number; pick: number }
  | { do: 'payout'; who: number; micros: number; reference: number }
  | { do: 'receipt'; who: number; micros: number; reference: number }
  | { do: 'adjust'; who: number; micros: number; reference: number; isAdvertiser: boolean }
  /** A payment, receipt or adjustment requested before, with the same amount or another. */
  | { do: 'again'; pick: number; more: number }
  | { do: 'void'; pick: number }
  | { do: 'create'; minimum: number }
  | { do: 'export'; pick: number }
  | { do: 'pay'; pick: number; who: number | null; isSent: boolean; times: number }
  | { do: 'cancel'; pick: number; who: number | null }
  /** A credit whose transaction stays open while the sums are brought up to date. */
  | { do: 'slowCredit'; who: number; micros: number }
  | { do: 'nextDay' }
  /** The advertiser's budget: null for none. */
  | { do: 'budget'; who: number; of: 'daily' | 'monthly' | 'total'; micros: number | null }

const who = fc.nat(2)
const pick = fc.nat(50)
const micros = fc.oneof(fc.integer({ min: 1, max: 60 * CENT }), fc.integer({ min: 1, max: 9 }).map((n) => n * CENT)) // prettier-ignore
const reference = fc.nat(2) // few, so that some are reused
const one = fc.option(who)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('convert' as const), who, micros }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('reverse' as const), who, pick }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('payout' as const), who, micros, reference }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('receipt' as const), who, micros, reference }) },
  fc.record({
    do: fc.constant('adjust' as const),
    who,
    micros: fc.tuple(micros, fc.boolean()).map(([n, isCredit]) => (isCredit ? n : -n)),
    reference,
    isAdvertiser: fc.boolean(),
  }),
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('again' as const), pick, more: fc.constantFrom(0, 0, CENT, 1) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('void' as const), pick }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('create' as const), minimum: fc.constantFrom(0, 20 * CENT) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('export' as const), pick }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('pay' as const),
      pick,
      who: one,
      isSent: fc.boolean(),
      times: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel' as const), pick, who: one }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('slowCredit' as const), who, micros }) },
  fc.record({ do: fc.constant('nextDay' as const) }),
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('budget' as const),
      who,
      of: fc.constantFrom('daily' as const, 'monthly' as const, 'total' as const),
      micros: fc.option(micros, { freq: 3 }),
    }),
  },
)

/** A publisher earns something, the newest run pays it, and is asked to pay it again. */
const phrase: fc.Arbitrary<Step[]> = fc
  .tuple(who, micros, fc.boolean(), fc.array(step, { maxLength: 1 }), fc.integer({ min: 1, max: 3 }))
  .map(([payee, earned, isSent, between, times]) => {
    const pay = { do: 'pay' as const, pick: 0, who: null, isSent, times }
    return [{ do: 'convert', who: payee, micros: earned }, { do: 'create', minimum: 0 }, pay, ...between, pay]
  })
export const story = fc
  .array(fc.oneof({ weight: 8, arbitrary: step.map((only) => [only]) }, { weight: 1, arbitrary: phrase }), {
    minLength: 5,
    maxLength: 30,
  })
  .map((parts) => parts.flat())

/** The statement at which a process dies during a step, before another process repeats it; mostly none. */
export const diesAt = fc.oneof({ weight: 5, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.integer({ min: 1, max: 12 }) }) // prettier-ignore
