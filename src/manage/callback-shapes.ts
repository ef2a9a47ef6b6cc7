// Callbacks of advertisers, as operators and the advertiser itself see them.

export const OUTCOMES = [
  'approved', 'pending', 'rejected', 'reversed', 'duplicate', 'ignored', 'unmatched', 'invalid', 'refused',
] as const // prettier-ignore

/** Stands in callback URLs where the token belongs. */
export const TOKEN_PLACE = 'YOUR_TOKEN'
