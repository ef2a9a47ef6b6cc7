// What a field of an offer or a request for offers can be. Apart from schema.ts: commands need the words, not the shapes.
export const PLATFORMS = ['web', 'android', 'ios'] as const
export const CATEGORIES = ['survey', 'app', 'game', 'video'] as const
export const SORTS = ['payout_desc', 'payout_asc', 'newest', 'popular'] as const
export const DIFFICULTIES = ['easy', 'medium', 'hard'] as const
export const CONVERSION_TYPES = ['cpa', 'cpi', 'cpe', 'cpl', 'survey'] as const
export const STATUSES = ['active', 'paused'] as const
/** What a destination can ask for: known at the click, and no secret of the publisher's. */
export const DESTINATION_MACROS = [
  'click_id', 'offer_id', 'app_id', 'country', 'device', 'os', 'aff_sub', 'aff_sub2', 'aff_sub3', 'aff_sub4', 'timestamp',
] as const // prettier-ignore

export type Platform = (typeof PLATFORMS)[number]
export type Category = (typeof CATEGORIES)[number]
export type Sort = (typeof SORTS)[number]
