import { InvalidPostbackError, Offerdeck, signWallUser, verifyPostback } from '@offerdeck/client'
import express from 'express'
import { balanceOf, credit } from './accounts.mjs'

const { OFFERDECK_URL, OFFERDECK_KEY, OFFERDECK_SECRET, SIGNING_SECRET, PORT } = process.env
const offerdeck = new Offerdeck({ baseUrl: OFFERDECK_URL, apiKey: OFFERDECK_KEY, apiSecret: OFFERDECK_SECRET })
const app = express()

// Before app.use(express.json()): what was parsed cannot be verified.
app.post('/postback', express.raw({ type: '*/*' }), async (request, response) => {
  try {
    credit(await verifyPostback({ headers: request.headers, body: request.body, secrets: SIGNING_SECRET.split(' ') }))
    response.send('OK')
  } catch (error) {
    if (!(error instanceof InvalidPostbackError)) throw error
    response.status(401).send(error.message)
  }
})

// In your app, the user is the one who is signed in.
app.get('/users/:userId/offers', async (request, response) => {
  const { userId } = request.params
  const { offers } = await offerdeck.offers.list({ userId, sort: 'payout_desc' })
  response.json({ offers, balance: balanceOf(userId) })
})

app.get('/users/:userId/wall', async (request, response) => {
  const { userId } = request.params
  response.json(await signWallUser({ apiKey: OFFERDECK_KEY, signingSecret: SIGNING_SECRET.split(' ')[0], userId }))
})

app.listen(Number(PORT ?? 3000), '127.0.0.1')
