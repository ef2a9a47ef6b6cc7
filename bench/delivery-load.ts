// What every contender delivers: a body and headers as postbacks have them, so many at once.
export const IN_FLIGHT = 64

export const BODY = JSON.stringify({
  id: '01a1df25-ebce-7000-84fa-297dc85df1e8',
  type: 'conversion.approved',
  created_at: '2026-11-15T12:00:00Z',
  sequence: 1,
  data: {
    conversion_id: '01a1df25-ebce-7001-84fa-297dc85df1e8', publisher_transaction_id: null, offer_id: 58, goal_id: 93,
    user_id: 'user-123456', status: 'approved', status_reason: null, payout: 1.5, payout_local: 150, currency: 'Coins',
    aff_sub: null, aff_sub2: null, aff_sub3: null, aff_sub4: null, source: 'publisher', country: null, device: null,
    click_at: null, created_at: '2026-11-15T12:00:00Z', approved_at: '2026-11-15T12:00:00Z', rejected_at: null,
    reversed_at: null, hold_until: null, is_test: false,
  },
}) // prettier-ignore

export const HEADERS = {
  'user-agent': 'bench',
  'content-type': 'application/json',
  'webhook-id': '01a1df25-ebce-7000-84fa-297dc85df1e8',
  'webhook-timestamp': '1794744000',
  'webhook-signature': 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
}
