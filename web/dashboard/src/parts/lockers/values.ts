// The settings of a locker as its form has them: numbers and times as typed.
import { amountOf, readWhole, wholeOf } from '../../lib/amounts.ts'
import type { BodyOf } from '../../lib/operations.ts'
import type { Category, Platform } from '../../lib/words.ts'
import { fromClockTime, toClockTime } from '../../lib/zoned-time.ts'
import type { WallSettings } from '../wall/data.ts'
import type { Locker } from './data.ts'
import { lookValuesOf, type LookValues, ownLookOf } from './look-values.ts'

const UNITS = { minutes: 1, hours: 60, days: 1_440 } as const
export type Unit = keyof typeof UNITS
export const MOST_MINUTES = 525_600

export type LockerValues = {
  kind: Locker['kind']
  name: string
  enabled: boolean
  title: string
  text: string
  image: string | null
  consent: string
  has_look: boolean
  look: LookValues
  counts: 'offers' | 'reward'
  needed_offers: string
  needed_reward: string
  counts_pending: boolean
  unlocked_minutes: string
  unit: Unit
  categories: Category[]
  platforms: Platform[]
  min_payout: string
  max_payout: string
  slug: string
  asks_password: boolean
  password: string
  link: {
    target_url: string
    expires_at: string
    click_limit: string
    referrers: string[]
    allows_no_referrer: boolean
    og_title: string
    og_text: string
    og_image: string | null
  }
}

const NEW_LOCKER: Omit<LockerValues, 'look'> = {
  kind: 'content',
  name: '',
  enabled: true,
  title: '',
  text: '',
  image: null,
  consent: '',
  has_look: false,
  counts: 'offers',
  needed_offers: '1',
  needed_reward: '',
  counts_pending: false,
  unlocked_minutes: '1',
  unit: 'days',
  categories: [],
  platforms: [],
  min_payout: '',
  max_payout: '',
  slug: '',
  asks_password: false,
  password: '',
  link: {
    target_url: '',
    expires_at: '',
    click_limit: '',
    referrers: [],
    allows_no_referrer: true,
    og_title: '',
    og_text: '',
    og_image: null,
  },
}

export const newLocker = (wall: WallSettings): LockerValues => ({ ...NEW_LOCKER, look: lookValuesOf(wall, null) })

export function valuesOf({ kind, has_password, settings }: Locker, wall: WallSettings): LockerValues {
  const { needed_offers, needed_reward, unlocked_minutes, min_payout, max_payout, link, look, ...rest } = settings
  const unit = (['days', 'hours'] as const).find((one) => unlocked_minutes % UNITS[one] === 0) ?? 'minutes'
  return {
    ...NEW_LOCKER,
    ...rest,
    kind,
    has_look: look !== null,
    look: lookValuesOf(wall, look),
    counts: needed_reward === null ? 'offers' : 'reward',
    needed_offers: String(needed_offers ?? 1),
    needed_reward: String(needed_reward ?? ''),
    unlocked_minutes: String(unlocked_minutes / UNITS[unit]),
    unit,
    min_payout: String(min_payout ?? ''),
    max_payout: String(max_payout ?? ''),
    asks_password: has_password,
    link:
      link === null
        ? NEW_LOCKER.link
        : { ...link, expires_at: toClockTime(link.expires_at), click_limit: String(link.click_limit ?? '') },
  }
}

export const minutesOf = ({ unlocked_minutes, unit }: LockerValues): number | null => {
  const count = readWhole(unlocked_minutes)
  return count === null ? null : count * UNITS[unit]
}

const orNull = <T>(text: string, read: (text: string) => T): T | null => (text.trim() === '' ? null : read(text))

/** `before`: the locker that is changed. */
export function bodyOf(
  values: LockerValues,
  wall: WallSettings,
  before: Locker | null,
): BodyOf<'POST /apps/{app_id}/lockers'> {
  const { kind, counts, needed_offers, needed_reward, min_payout, max_payout, slug, asks_password, password } = values
  const { name, enabled, title, text, image, consent, counts_pending, categories, platforms, link } = values
  const common = { name, enabled, title, text, image, consent, counts_pending, categories, platforms }
  return {
    ...common,
    look: values.has_look ? ownLookOf(values.look, wall, before?.settings.look ?? null) : null,
    needed_offers: counts === 'offers' ? wholeOf(needed_offers) : null,
    needed_reward: counts === 'reward' ? amountOf(needed_reward) : null,
    unlocked_minutes: minutesOf(values) ?? Number.NaN,
    min_payout: orNull(min_payout, amountOf),
    max_payout: orNull(max_payout, amountOf),
    link:
      kind === 'content'
        ? null
        : {
            ...link,
            expires_at: orNull(link.expires_at, (typed) => keptTime(typed, before) ?? fromClockTime(typed) ?? typed),
            click_limit: orNull(link.click_limit, wholeOf),
          },
    ...(before === null && kind === 'link' && slug.trim() !== '' ? { slug: slug.trim() } : {}),
    ...(kind === 'content' ? {} : passwordOf(asks_password, password)),
  }
}

/** A time that was not touched stays to the millisecond. */
const keptTime = (typed: string, before: Locker | null): string | null => {
  const known = before?.settings.link?.expires_at ?? null
  return typed === toClockTime(known) ? known : null
}

function passwordOf(isAsked: boolean, typed: string): { password?: string | null } {
  if (!isAsked) return { password: null }
  return typed === '' ? {} : { password: typed }
}
