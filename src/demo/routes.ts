// The demo's other companies, so that the whole loop can be walked in a browser: a publisher's site with a wall, lockers
// and a receiver of postbacks, and the advertisers to which its offers lead. They use Offerdeck from outside, as real ones do.
import { randomBytes } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Config } from '../config.ts'
import type { Db } from '../db/open.ts'
import { AppError } from '../errors.ts'
import { rotateToken } from '../features/accounts/advertisers.ts'
import { verifyUrl } from '../features/postbacks/signing.ts'
import { signUser } from '../features/wall/signature.ts'
import { en } from '../features/wall/texts/en.ts'
import { sendPage } from '../http/pages.ts'
import { createTextParser } from '../http/query.ts'
import { createNonce } from '../lib/nonce.ts'
import { isUuid } from '../lib/uuid7.ts'
import { advertiserBody, advertiserScript, demoPage, policyOf, siteBody, siteScript } from './pages.ts'
import type { DemoSite } from './site.ts'
import { AdvertiserTokens, Coins } from './state.ts'
import { chapterRoute, lockersSection, STORY_SCRIPT, storyBody } from './story.ts'

const USER_COOKIE = 'offerdeck.demo_user'
const SIGNED_S = 3_600
const DAY_MS = 86_400_000
const BY = { id: null, email: 'demo', ip: null }
const STATUS_OF = { complete: 'approved', fail: 'rejected', reverse: 'reversed' } as const
const hidden = { schema: { hide: true } }

export type DemoOptions = { db: Db; secretKey: string; config: Config; site: DemoSite }

export const demoPostbackUrl = (publicUrl: string) =>
  `${publicUrl}/demo/postback?user={user_id}&coins={reward}&status={status}&id={transaction_id}&conversion={conversion_id}&offer={offer_name}&signature={signature}`

export function demoRoutes(server: FastifyInstance, options: DemoOptions): void {
  siteRoutes(server, options)
  advertiserRoutes(server, options)
}

function siteRoutes(server: FastifyInstance, { config: { publicUrl, dataDir }, site }: DemoOptions): void {
  const coins = new Coins(dataDir)
  const sign = (userId: string) => {
    const expiresAtS = Math.floor(Date.now() / 1000) + SIGNED_S
    return { exp: expiresAtS, sig: signUser(site.signing_secret, { apiKey: site.api_key, userId, expiresAtS }) }
  }

  server.get('/demo', hidden, async (request, reply) => {
    const userId = userOf(request) ?? `visitor-${randomBytes(8).toString('hex')}`
    reply.header('Set-Cookie', `${USER_COOKIE}=${userId}; Path=/demo; HttpOnly; SameSite=Lax; Max-Age=31536000`)
    const wall = { apiKey: site.api_key, userId, ...sign(userId), country: 'US' }
    return sendDemo(reply, 'Pixel Harbor', siteBody(site.app_id, lockersSection(site)), siteScript(site.app_id, wall))
  })

  server.get('/demo/story', hidden, async (_request, reply) =>
    sendDemo(reply, 'The lighthouse', storyBody(site), STORY_SCRIPT),
  )
  chapterRoute(server, site)

  server.get('/demo/signature', hidden, async (request, reply) => {
    const userId = userOf(request)
    if (userId === null) throw new AppError('RESOURCE_NOT_FOUND', 'Open the demo site first.')
    return reply.header('Cache-Control', 'no-store').send(sign(userId))
  })

  server.get('/demo/state', hidden, async (request, reply) => {
    const userId = userOf(request)
    const credits = userId === null ? [] : coins.of(userId)
    const sum = credits.reduce((total, one) => total + one.coins, 0)
    return reply.header('Cache-Control', 'no-store').send({ coins: sum, credits })
  })

  const parse = createTextParser(['user', 'coins', 'status', 'id', 'conversion', 'offer'])
  server.get('/demo/postback', hidden, async (request, reply) => {
    if (!verifyUrl([site.signing_secret], publicUrl + request.url)) return reply.code(401).send('Wrong signature.\n')
    const query = parse(request.url.slice(request.url.indexOf('?') + 1))
    const { user = '', status = '', id = '', conversion = '', offer = '' } = query
    const isNew = coins.add({
      id,
      user,
      coins: Number(query['coins']),
      status,
      offer,
      conversion,
      at: new Date().toISOString(),
    })
    return reply.type('text/plain').send(isNew ? 'OK\n' : 'DUP\n')
  })
}

function advertiserRoutes(server: FastifyInstance, { db, secretKey, config }: DemoOptions): void {
  const tokens = new AdvertiserTokens(
    config.dataDir,
    async (advertiserId) => (await rotateToken(db, BY, secretKey, advertiserId, DAY_MS, new Date())).token,
  )
  const parse = createTextParser(['click'])

  server.get('/demo/offers/:category/:number', hidden, async (request, reply) => {
    const { click } = parse(request.url.slice(request.url.indexOf('?') + 1))
    const visit = await findVisit(db, config, click ?? '')
    const body = advertiserBody(visit.offer, visit.goals)
    return sendDemo(reply, visit.offer.name, body, advertiserScript(visit.clickId))
  })

  const Decision = Type.Object({
    click: Type.String(),
    goal: Type.Integer(),
    action: Type.Unsafe<keyof typeof STATUS_OF>({ type: 'string', enum: Object.keys(STATUS_OF) }),
  })
  server.post<{ Body: { click: string; goal: number; action: keyof typeof STATUS_OF } }>(
    '/demo/confirm',
    { schema: { hide: true, body: Decision } },
    async (request, reply) => {
      const { origin } = request.headers
      if (origin !== undefined && origin !== config.publicUrl)
        throw new AppError('INVALID_REQUEST', 'Only the pages of the demo may do that.')
      const { click, goal, action } = request.body
      const { advertiserId } = await findVisit(db, config, click)
      const confirm = async () => {
        const query = {
          click_id: click,
          goal_id: String(goal),
          status: STATUS_OF[action],
          token: await tokens.of(advertiserId),
        }
        return server.inject(`/postback?${new URLSearchParams(query).toString()}`)
      }
      let answer = await confirm()
      if (answer.statusCode === 401 || answer.statusCode === 403) {
        tokens.forget(advertiserId) // someone rotated it
        answer = await confirm()
      }
      return reply.send({ message: explain(JSON.parse(answer.body) as CallAnswer) })
    },
  )
}

type CallAnswer = { outcome?: string; reason?: string | null; message?: string }

/** What the network answered, for people: its reasons are codes, for programs. */
function explain({ outcome, reason, message = 'Something went wrong.' }: CallAnswer): string {
  const isCode = reason != null && reason in en && message.includes(`(${reason})`)
  return isCode ? `The conversion is ${outcome}. ${en[reason as keyof typeof en]}` : message
}

/** What the page of an advertiser shows of one click. Of an offer that leads elsewhere, the demo knows nothing. */
async function findVisit(db: Db, { publicUrl }: Config, clickId: string) {
  const offer = isUuid(clickId)
    ? await db
        .selectFrom('clicks')
        .innerJoin('offers', 'offers.offer_id', 'clicks.offer_id')
        .select(['offers.offer_id', 'name', 'requirements', 'advertiser_id', 'destination_url'])
        .where('click_id', '=', clickId)
        .executeTakeFirst()
    : undefined
  if (offer === undefined || !offer.destination_url.startsWith(`${publicUrl}/demo/offers/`))
    throw new AppError('RESOURCE_NOT_FOUND', 'This demo advertiser knows no such click. Start the offer again.')
  const goals = await db
    .selectFrom('goals as g')
    .select((is) => [
      'g.goal_id',
      'g.name',
      is
        .selectFrom('conversions as c')
        .select('c.status')
        .where('c.click_id', '=', clickId)
        .whereRef('c.goal_id', '=', 'g.goal_id')
        .orderBy('c.conversion_id', 'desc')
        .limit(1)
        .as('status'),
    ])
    .where('g.offer_id', '=', offer.offer_id)
    .where('g.is_retired', '=', false)
    .orderBy('g.place')
    .execute()
  return { clickId, offer, goals, advertiserId: offer.advertiser_id }
}

const userOf = ({ headers: { cookie = '' } }: FastifyRequest) =>
  new RegExp(`(?:^|; *)${USER_COOKIE}=(visitor-[0-9a-f]{16})(?:;|$)`).exec(cookie)?.[1] ?? null

function sendDemo(reply: FastifyReply, title: string, body: string, script: string): FastifyReply {
  const nonce = createNonce()
  return sendPage(reply, demoPage({ title, body, script, nonce }), {
    policy: policyOf(nonce),
    cacheControl: 'no-store',
  })
}
