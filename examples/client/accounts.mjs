// Stands for your database. There, the ID of the event has a unique index, and is stored in the same transaction as the
// credit: a postback can come more than once, and two at the same time.

const processed = new Set()
const balances = new Map()

/** @param {import('@offerdeck/client').ConversionEvent} event */
export function credit({ id, data }) {
  if (processed.has(id) || data.is_test) return
  processed.add(id)
  if (data.status !== 'approved' && data.status !== 'reversed') return
  // The amount of a reversal is negative.
  balances.set(data.user_id, balanceOf(data.user_id) + data.payout_local)
}

/** @param {string} userId @returns {number} */
export const balanceOf = (userId) => balances.get(userId) ?? 0
