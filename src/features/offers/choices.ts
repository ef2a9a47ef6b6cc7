// What a field of an offer or a request for offers can be. Apart from schema.ts: commands need the words, not the shapes.
export const PLATFORMS = ['web', 'android', 'ios'] as const
export const CATEGORIES = ['survey', 'app', 'game', 'video'] as const
export const SORTS = ['payout_desc', 'payout_asc', 'newest', 'popular'] as const
/** The orders that are kept: of `recommended` there are two, that of the ranking in effect and of the one before. */
export const SIDES = ['recommended_a', 'recommended_b'] as const
export const ORDERS = [...SORTS, ...SIDES] as const
/** What the wall can ask for: only it and lockers recommend. */
export const WALL_SORTS = ['recommended', ...SORTS] as const
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
export type Side = (typeof SIDES)[number]
export type Order = (typeof ORDERS)[number]
export type WallSort = (typeof WALL_SORTS)[number]
