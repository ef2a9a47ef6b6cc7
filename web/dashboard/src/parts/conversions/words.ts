// What is said of a conversion.
import type { Schemas } from '../../lib/api-types.ts'

type Conversion = Schemas['ConversionHistory']['conversion']
type Reason = NonNullable<Conversion['status_reason']>

const REASONS: Record<Reason, string> = {
  cap_exceeded: 'The offer had reached one of its caps.',
  click_expired: 'The click was older than the attribution window.',
  not_eligible: 'The user was not eligible for this offer.',
  geo_mismatch: 'The user’s country differed from the country of the click.',
  fraud: 'Suspected fraud.',
  unconfirmed: 'The advertiser did not confirm it in time.',
  advertiser_rejected: 'The advertiser rejected it.',
  advertiser_reversed: 'The advertiser reversed it.',
  operator: 'Decided by the operator.',
}

export const explainReason = (reason: Reason | null) => (reason === null ? null : REASONS[reason])

const ACTORS = {
  publisher: 'by publisher report',
  advertiser: 'by the advertiser',
  operator: 'by the operator',
  system: 'automatically',
}

export const nameActor = (actor: keyof typeof ACTORS) => ACTORS[actor]

type SubIds = Pick<Conversion, 'aff_sub' | 'aff_sub2' | 'aff_sub3' | 'aff_sub4'>

/** Those that were given, with their names. */
export const subIdsOf = ({ aff_sub, aff_sub2, aff_sub3, aff_sub4 }: SubIds): [name: string, value: string][] =>
  Object.entries({ aff_sub, aff_sub2, aff_sub3, aff_sub4 }).flatMap(([name, value]) =>
    value === null ? [] : [[name, value]],
  )
