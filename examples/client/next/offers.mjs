// app/users/[userId]/offers/route.js
import { Offerdeck } from '@offerdeck/client'
import { balanceOf } from '../accounts.mjs'

const { OFFERDECK_URL = '', OFFERDECK_KEY = '', OFFERDECK_SECRET = '' } = process.env
const offerdeck = new Offerdeck({ baseUrl: OFFERDECK_URL, apiKey: OFFERDECK_KEY, apiSecret: OFFERDECK_SECRET })

/**
 * In your app, the user is the one who is signed in.
 * @param {Request} _request
 * @param {{ params: Promise<{ userId: string }> }} context
 */
export async function GET(_request, { params }) {
  const { userId } = await params
  const { offers } = await offerdeck.offers.list({ userId, sort: 'payout_desc' })
  return Response.json({ offers, balance: balanceOf(userId) })
}
