// The client as it is published: packed, installed into an empty project, run, type-checked, and used by its examples.
import assert from 'node:assert/strict'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, type TestContext } from 'node:test'
import { buildRequest } from '../../src/features/postbacks/message.ts'
import { DEFAULTS } from '../../src/features/postbacks/settings.ts'
import { EXAMPLE_VALUES } from '../../src/features/postbacks/template.ts'
import { createFolder } from '../folders.ts'
import { until } from '../installation.ts'
import { testLong, testWhole } from '../tier.ts'
import { World } from '../world.ts'
import { ClientProject, installRuntimes, NODES } from './client-project.ts'

type Started = { world: World; url: string; project: ClientProject }
let starting: Promise<Started> | undefined
const folder = createFolder('client')
/** Once for all tests, if any of them runs. */
const start = () =>
  (starting ??= (async () => {
    const world = new World('client_package')
    await world.open()
    const url = await world.app.server.listen({ host: '127.0.0.1', port: 0 })
    return { world, url, project: await ClientProject.create(folder) }
  })())
after(async () => {
  await (await starting)?.world.close()
  rmSync(folder, { recursive: true })
})

/** An app, an offer, and what a publisher's server knows of them. */
async function createPublisher({ world, url }: Started) {
  const { live } = await world.createApp()
  const [offerId = 0] = await world.createOffers({ name: 'Castle Quest' })
  const env = {
    OFFERDECK_URL: url,
    OFFERDECK_KEY: live.api_key,
    OFFERDECK_SECRET: live.api_secret,
    SIGNING_SECRET: live.signing_secret,
  }
  return { live, offerId, env }
}

const TRIAL = `
import { Offerdeck, OfferdeckError, signWallUser } from '@offerdeck/client'
const { OFFERDECK_URL, OFFERDECK_KEY, OFFERDECK_SECRET, SIGNING_SECRET, OFFER_ID } = process.env
const api = new Offerdeck({ baseUrl: OFFERDECK_URL, apiKey: OFFERDECK_KEY, apiSecret: OFFERDECK_SECRET })
const { offers } = await api.offers.list({ userId: 'ann', limit: 100 })
const { conversion } = await api.conversions.create({ userId: process.version, offerId: Number(OFFER_ID) })
const error = await api.offers.list({ userId: '' }).catch((error) => error)
const user = await signWallUser({ apiKey: OFFERDECK_KEY, signingSecret: SIGNING_SECRET, userId: 'ann' })
console.log(JSON.stringify({ names: offers.map(({ name }) => name), status: conversion.status, code: error instanceof OfferdeckError && error.code, user }))
`

testLong('the packed client works in an empty project, under the Node of the system and ours', async () => {
  const started = await start()
  const { project } = started
  const shipped = readdirSync(join(project.folder, 'node_modules/@offerdeck/client'))
  assert.deepEqual(shipped.toSorted(), ['LICENSE', 'README.md', 'dist', 'package.json'])
  assert.deepEqual(readdirSync(join(project.folder, 'node_modules')).filter((name) => !name.startsWith('.')), ['@offerdeck']) // prettier-ignore
  for (const node of NODES) await tryClient(started, node)
})

testWhole('the packed client works under Bun and Deno', async () => {
  const started = await start()
  for (const { program, args } of await installRuntimes(join(folder, 'runtimes')))
    await tryClient(started, program, args)
})

async function tryClient(started: Started, program: string, args: string[] = []): Promise<void> {
  const { project, url } = started
  project.write('trial.mjs', TRIAL)
  const { env, offerId } = await createPublisher(started)
  const printed = JSON.parse(await project.run(program, [...args, 'trial.mjs'], { ...env, OFFER_ID: String(offerId) })) as { names: string[]; status: string; code: string; user: Record<string, string> } // prettier-ignore
  assert.ok(printed.names.includes('Castle Quest'))
  assert.deepEqual([printed.status, printed.code], ['pending', 'INVALID_REQUEST'])
  const wall = await fetch(`${url}/wall/v1/offers?${new URLSearchParams(printed.user).toString()}`)
  assert.equal(wall.status, 200, program)
}

const CONSUMER = `
import { type Conversion, type Offer, Offerdeck, OfferdeckError, verifyPostback } from '@offerdeck/client'
const api = new Offerdeck({ baseUrl: 'https://offers.example.com', apiKey: 'pk_live_1', apiSecret: 'sk_live_1', fetch })
export const list = async (userId: string): Promise<Offer[]> => (await api.offers.list({ userId, sort: 'payout_desc' })).offers
export const report = async (offerId: number): Promise<Conversion> =>
  (await api.conversions.create({ userId: 'u', offerId }, { idempotencyKey: 'k', signal: AbortSignal.timeout(5) })).conversion
export async function* rewards(): AsyncGenerator<number> {
  for await (const { event, cursor } of api.events({ after: null, follow: true })) if (cursor !== '') yield event.data.payout_local
}
export const status = async (request: Request): Promise<'pending' | 'approved' | 'rejected' | 'reversed'> =>
  (await verifyPostback({ headers: request.headers, body: await request.arrayBuffer(), secrets: ['whsec_'] })).data.status
export const isLimited = (error: unknown): boolean => error instanceof OfferdeckError && error.code === 'RATE_LIMIT_EXCEEDED'
// @ts-expect-error the user is missing
export const wrong = () => api.offers.list({})
`

testLong('the packed types serve a strict project of Node and one of a bundler, and the examples', async () => {
  const { project } = await start()
  project.link('@types/node', '@types/react', 'csstype', 'fastify', 'hono', 'undici-types')
  project.copyExamples()
  project.write('consumer.ts', CONSUMER)
  const strict = { strict: true, noEmit: true, target: 'esnext', exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true } // prettier-ignore
  const config = (name: string, compilerOptions: object, include: string[]) =>
    project.write(`${name}.json`, JSON.stringify({ compilerOptions: { ...strict, ...compilerOptions }, include }))
  const ofNode = { module: 'nodenext', lib: ['esnext'], types: ['node'] }
  config('node', ofNode, ['consumer.ts'])
  config('bundler', { module: 'esnext', moduleResolution: 'bundler', lib: ['esnext', 'dom'], types: [] }, [
    'consumer.ts',
  ])
  const ownCode = ['accounts.mjs', 'fastify.mjs', 'hono.mjs', 'follow-events.mjs', 'next/*.mjs']
  config('examples', { ...ofNode, allowJs: true, checkJs: true, skipLibCheck: true }, ownCode)
  config('pages', { module: 'esnext', moduleResolution: 'bundler', jsx: 'react-jsx', lib: ['esnext', 'dom'], types: ['@offerdeck/client/sdk'] }, ['wall/**/*.tsx']) // prettier-ignore
  const tsc = join(import.meta.dirname, '../../node_modules/.bin/tsc')
  for (const name of ['node', 'bundler', 'examples', 'pages'])
    assert.equal(await project.run(tsc, ['-p', `${name}.json`]), '')
})

/** For handlers of the web's own requests, which a platform serves. */
const SERVE = `
import { createServer } from 'node:http'
export const serve = (handle) =>
  createServer(async (request, response) => {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const { method, headers } = request
    const body = chunks.length === 0 ? undefined : Buffer.concat(chunks)
    const answer = await handle(new Request('http://localhost' + request.url, { method, headers, body }))
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(Buffer.from(await answer.arrayBuffer()))
  }).listen(Number(process.env.PORT), '127.0.0.1')
`
const HONO = `import app from './hono.mjs'\nimport { serve } from './serve.mjs'\nserve((request) => app.fetch(request))\n`
const NEXT = `
import { serve } from './serve.mjs'
const routes = { postback: await import('./next/postback.mjs'), offers: await import('./next/offers.mjs'), wall: await import('./next/wall.mjs') }
serve((request) => {
  const parts = new URL(request.url).pathname.split('/')
  const handle = routes[parts.at(-1)]?.[request.method]
  return handle?.(request, { params: Promise.resolve({ userId: decodeURIComponent(parts[2] ?? '') }) }) ?? new Response('', { status: 404 })
})
`

/** As a worker sends it. */
function sendPostback(to: string, secret: string, id: string, reward: number): Promise<Response> {
  const now = new Date()
  const status = reward < 0 ? 'reversed' : 'approved'
  const data = { user_id: 'Zoë', status, payout_local: reward, is_test: false }
  const body = { id, type: `conversion.${status}`, created_at: now.toISOString(), sequence: 1, data }
  const settings = { ...DEFAULTS, method: 'POST' as const, url: `${to}/postback` }
  const request = buildRequest({ body, macros: EXAMPLE_VALUES }, settings, [secret], now)
  return fetch(request.url, { method: request.method, headers: request.headers, body: request.body })
}

async function tryExample(t: TestContext, file: string): Promise<void> {
  const started = await start()
  const { project, url } = started
  project.link('express', 'fastify', 'hono')
  project.copyExamples()
  for (const [name, text] of Object.entries({ 'serve.mjs': SERVE, 'hono-server.mjs': HONO, 'next-server.mjs': NEXT }))
    project.write(name, text)
  const { env, live, offerId } = await createPublisher(started)
  const server = await project.serve(t, file, env)
  const forged = await sendPostback(server, `whsec_${Buffer.alloc(32, 1).toString('base64')}`, 'e0', 1_000)
  assert.equal(forged.status, 401)
  const sent: [string, number][] = [['e1', 125], ['e1', 125], ['e2', 50], ['e3', -50]] // prettier-ignore
  for (const [id, reward] of sent) {
    const reply = await sendPostback(server, live.signing_secret, id, reward)
    assert.deepEqual([reply.status, await reply.text()], [200, 'OK'])
  }
  const get = async (path: string) => (await fetch(`${server}/users/Zo%C3%AB/${path}`)).json()
  const shown = (await get('offers')) as { offers: { offer_id: number }[]; balance: number }
  assert.ok(shown.offers.some(({ offer_id }) => offer_id === offerId))
  assert.equal(shown.balance, 125)
  const user = new URLSearchParams((await get('wall')) as Record<string, string>)
  assert.equal(user.get('userId'), 'Zoë')
  assert.equal((await fetch(`${url}/wall/v1/offers?${user.toString()}`)).status, 200)
}

for (const [name, file] of [
  ['Express', 'express.mjs'],
  ['Fastify', 'fastify.mjs'],
  ['Hono', 'hono-server.mjs'],
  ['Next', 'next-server.mjs'],
] as const)
  // prettier-ignore
  testLong(`the example for ${name} verifies postbacks, lists offers and signs users`, (t) => tryExample(t, file))

testLong('the example that follows events goes on where it stopped', async (t) => {
  const started = await start()
  const { project, world } = started
  project.copyExamples()
  const { env, live, offerId } = await createPublisher(started)
  const follow = async (userId: string) => {
    await world.report(live, { userId, offerId })
    const { printed, stop } = project.start(t, 'follow-events.mjs', { ...env, CURSOR_FILE: 'stored-cursor' })
    await until(() => printed().includes(`conversion.pending ${userId} `))
    await stop()
    return printed().trim().split('\n').length
  }
  assert.equal(await follow('ann'), 1)
  assert.equal(await follow('bob'), 1)
})
