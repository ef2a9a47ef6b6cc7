import { InvalidPostbackError, Offerdeck, signWallUser, verifyPostback } from '@offerdeck/client'
import Fastify from 'fastify'
import { balanceOf, credit } from './accounts.mjs'

const { OFFERDECK_URL = '', OFFERDECK_KEY = '', OFFERDECK_SECRET = '', SIGNING_SECRET = '', PORT } = process.env
const offerdeck = new Offerdeck({ baseUrl: OFFERDECK_URL, apiKey: OFFERDECK_KEY, apiSecret: OFFERDECK_SECRET })
const app = Fastify()

// In a plugin of its own, so that only this route has the body as it came: what was parsed cannot be verified.
app.register(async (hooks) => {
  hooks.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  hooks.post('/postback', async (request, reply) => {
    try {
      const body = /** @type {Buffer} */ (request.body)
      credit(await verifyPostback({ headers: request.headers, body, secrets: SIGNING_SECRET.split(' ') }))
      return 'OK'
    } catch (error) {
      if (!(error instanceof InvalidPostbackError)) throw error
      return reply.code(401).send(error.message)
    }
  })
})

// In your app, the user is the one who is signed in.
app.get('/users/:userId/offers', async (request) => {
  const { userId } = /** @type {{ userId: string }} */ (request.params)
  const { offers } = await offerdeck.offers.list({ userId, sort: 'payout_desc' })
  return { offers, balance: balanceOf(userId) }
})

app.get('/users/:userId/wall', async (request) => {
  const { userId } = /** @type {{ userId: string }} */ (request.params)
  return signWallUser({ apiKey: OFFERDECK_KEY, signingSecret: SIGNING_SECRET.split(' ')[0] ?? '', userId })
})

await app.listen({ port: Number(PORT ?? 3000), host: '127.0.0.1' })
