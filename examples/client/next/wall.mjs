// app/users/[userId]/wall/route.js
import { signWallUser } from '@offerdeck/client'

/**
 * In your app, the user is the one who is signed in.
 * @param {Request} _request
 * @param {{ params: Promise<{ userId: string }> }} context
 */
export async function GET(_request, { params }) {
  const { OFFERDECK_KEY = '', SIGNING_SECRET = '' } = process.env
  const { userId } = await params
  const signingSecret = SIGNING_SECRET.split(' ')[0] ?? ''
  return Response.json(await signWallUser({ apiKey: OFFERDECK_KEY, signingSecret, userId }))
}
