/** The statuses that a postback can report. */
export const STATUSES = ['pending', 'approved', 'rejected', 'reversed'] as const
export type Status = (typeof STATUSES)[number]
