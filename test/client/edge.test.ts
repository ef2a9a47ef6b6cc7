// The client where there is no Node: bundled, and run with nothing but what every runtime on the web has.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createContext, runInContext } from 'node:vm'
import { build, type Rolldown } from 'vite'
import type * as Client from '../../client/src/index.ts'
import { signMessage } from '../../src/features/postbacks/signing.ts'
import { useServed } from './served.ts'

const { world, url } = useServed('client_edge')

/** What Node, Bun, Deno, browsers and the workers of edge networks have in common. Of the language itself, all is there. */
const { AbortController, atob, clearTimeout, crypto, fetch, Headers, setTimeout, TextDecoder, TextEncoder, URL, URLSearchParams } = globalThis // prettier-ignore
const COMMON = { AbortController, atob, clearTimeout, crypto, fetch, Headers, setTimeout, TextDecoder, TextEncoder, URL, URLSearchParams } // prettier-ignore

async function bundle(): Promise<string> {
  const lib = { entry: 'client/src/index.ts', formats: ['iife' as const], name: 'client' }
  const built = await build({ configFile: false, logLevel: 'silent', build: { lib, write: false, minify: true } })
  const [{ output }] = built as [Rolldown.RolldownOutput]
  return output[0].code
}

test('the client needs nothing that only Node has, and is small', async () => {
  const code = await bundle()
  assert.doesNotMatch(code, /\brequire\b|\bimport\b|node:|\bprocess\b|\bBuffer\b/)
  assert.ok(code.length < 12_000, String(code.length))
  const { Offerdeck, signWallUser, verifyPostback, verifySignedUrl, OfferdeckError, InvalidPostbackError } =
    runInContext(`${code}; client`, createContext({ ...COMMON })) as typeof Client

  const { live } = await world.createApp()
  const [offerId = 0] = await world.createOffers({})
  const { api_key: apiKey, api_secret: apiSecret, signing_secret: signingSecret } = live
  const api = new Offerdeck({ baseUrl: url(), apiKey, apiSecret })
  assert.equal((await api.offers.list({ userId: 'u' })).offers[0]?.offer_id, offerId)
  assert.equal((await api.conversions.create({ userId: 'u', offerId })).conversion.status, 'pending')
  for await (const { event } of api.events()) assert.equal(event.type, 'conversion.pending')
  await assert.rejects(api.offers.list({ userId: '' }), (error) => error instanceof OfferdeckError)
  const gone = new Offerdeck({ baseUrl: 'http://127.0.0.1:1', apiKey, apiSecret, retries: 1 })
  await assert.rejects(gone.stats(), { code: 'CONNECTION_FAILED' })

  const user = await signWallUser({ apiKey, signingSecret, userId: 'u' })
  assert.equal((await fetch(`${url()}/wall/v1/offers?${new URLSearchParams(user).toString()}`)).status, 200)
  const nowS = Math.floor(Date.now() / 1_000)
  const body = Buffer.from('{"id":"e"}')
  const headers = {
    'webhook-id': 'e',
    'webhook-timestamp': String(nowS),
    'webhook-signature': signMessage([signingSecret], 'e', nowS, body.toString()),
  }
  assert.equal((await verifyPostback({ headers, body, secrets: signingSecret })).id, 'e')
  const isInvalid = (error: unknown) => error instanceof InvalidPostbackError
  await assert.rejects(verifyPostback({ headers, url: 'https://example.com/', secrets: signingSecret }), isInvalid)
  await assert.rejects(verifySignedUrl({ url: 'https://example.com/?a=b', secrets: signingSecret }), isInvalid)
})
