import { InvalidPostbackError, Offerdeck, signWallUser, verifyPostback } from '@offerdeck/client'
import { Hono } from 'hono'
import { balanceOf, credit } from './accounts.mjs'

const { OFFERDECK_URL = '', OFFERDECK_KEY = '', OFFERDECK_SECRET = '', SIGNING_SECRET = '' } = process.env
const offerdeck = new Offerdeck({ baseUrl: OFFERDECK_URL, apiKey: OFFERDECK_KEY, apiSecret: OFFERDECK_SECRET })
const app = new Hono()

app.post('/postback', async (c) => {
  try {
    const body = await c.req.arrayBuffer()
    credit(await verifyPostback({ headers: c.req.raw.headers, body, secrets: SIGNING_SECRET.split(' ') }))
    return c.text('OK')
  } catch (error) {
    if (!(error instanceof InvalidPostbackError)) throw error
    return c.text(error.message, 401)
  }
})

// In your app, the user is the one who is signed in.
app.get('/users/:userId/offers', async (c) => {
  const userId = c.req.param('userId')
  const { offers } = await offerdeck.offers.list({ userId, sort: 'payout_desc' })
  return c.json({ offers, balance: balanceOf(userId) })
})

app.get('/users/:userId/wall', async (c) => {
  const userId = c.req.param('userId')
  return c.json(
    await signWallUser({ apiKey: OFFERDECK_KEY, signingSecret: SIGNING_SECRET.split(' ')[0] ?? '', userId }),
  )
})

export default app
