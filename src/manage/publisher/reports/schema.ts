// The shapes of an app's figures.
import { Type } from 'typebox'
import { GROUPINGS, Stats, StatsQuery } from '../../../features/reports/schema.ts'
import { oneOf } from '../../shapes.ts'

const { from, to, timezone, country, limit } = StatsQuery.properties
const Asked = {
  from,
  to,
  timezone,
  country,
  group_by: Type.Optional(
    Type.Unsafe<(typeof GROUPINGS)[number]>({
      ...oneOf(GROUPINGS),
      default: 'day',
      description: 'How to group the rows.',
    }),
  ),
  offer_id: StatsQuery.properties.offerId,
}

/** From when to when; days begin in the zone. */
export const PeriodQuery = Type.Object({ from, to, timezone })

export const AppStatsQuery = Type.Object({ ...Asked, limit })
export const AppStatsCsvQuery = Type.Object(Asked)
export const AppStats = Stats
