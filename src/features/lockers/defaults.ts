// What a locker is where nothing else is set. Apart from the schema: commands read it as well, and TypeBox takes long to load.
import type { LinkSettings, LockerSettings } from './schema.ts'

export const LINK_DEFAULTS: Omit<LinkSettings, 'target_url'> = {
  expires_at: null,
  click_limit: null,
  referrers: [],
  allows_no_referrer: true,
  og_title: '',
  og_text: '',
  og_image: null,
}
export const DEFAULTS: Omit<LockerSettings, 'name' | 'link'> = {
  enabled: true,
  title: '',
  text: '',
  image: null,
  look: null,
  consent: '',
  needed_offers: null,
  needed_reward: null,
  counts_pending: false,
  unlocked_minutes: 1_440,
  categories: [],
  platforms: [],
  min_payout: null,
  max_payout: null,
}
