// Visitors of lockers, step by step through the door, for tests of what happens between two of them.
import assert from 'node:assert/strict'
import { createLocker, findLocker } from '../src/features/lockers/lockers.ts'
import type { LockerBoot, LockerInput, LockerState } from '../src/features/lockers/schema.ts'
import { TESTER } from './tester.ts'
import { BROWSER, type World } from './world.ts'

type Keys = { api_key: string; api_secret: string }
type Known = { visitor: string; key: string; pass?: string }
export type Answer<T> = { status: number; data: T; details: Record<string, string>; message: string }

export async function ask<T>(world: World, url: string, payload: object, headers = {}): Promise<Answer<T>> {
  const { statusCode, body } = await world.app.server.inject({ method: 'POST', url, payload, headers: { 'user-agent': BROWSER, ...headers } }) // prettier-ignore
  type Body = { data: T; error?: { message: string; details: Record<string, string> | null } }
  const { data, error } = JSON.parse(body) as Body
  return { status: statusCode, data, details: error?.details ?? {}, message: error?.message ?? '' }
}

/** A locker of an app of its own, with what its visitors and its publisher do. */
export async function createSteps(world: World, input: Partial<LockerInput> = {}) {
  const app = await world.createApp()
  const { db } = world.database
  const lockerId = await createLocker(db, TESTER, world.config, app.appId, { name: 'Locker', ...input })
  const slug = (await findLocker(db, { lockerId }))?.slug ?? null
  const visit = (known: object = {}) => ask<LockerState>(world, `/locker/v1/lockers/${lockerId}/visits`, known)
  const open = (known: object) => ask<{ target_url: string }>(world, `/l/${slug}/open`, known)
  const redeem = (proof: string | null, keys: Keys = app.live) =>
    ask<{ redeemed: boolean }>(world, `/v1/lockers/${lockerId}/redeem`, { proof }, { 'x-api-key': keys.api_key, 'x-api-secret': keys.api_secret }) // prettier-ignore

  async function passOf(): Promise<{ pass?: string }> {
    if (slug === null) return {}
    const { body } = await world.app.server.inject({ url: `/l/${slug}`, headers: { 'user-agent': BROWSER } })
    const boot = JSON.parse(/id="boot">(.*?)<\/script>/.exec(body)?.[1] ?? '{}') as Partial<LockerBoot>
    return { pass: boot.pass ?? '' }
  }

  /** A new visitor. */
  async function arrive(): Promise<Known & { state: LockerState }> {
    const pass = await passOf()
    const { data } = await visit(pass)
    return { visitor: data.visitor, key: data.key, ...pass, state: data }
  }

  /** Follows the link of an offer as the page shows it; returns the click. */
  async function start({ offers }: LockerState, offerId: number): Promise<string> {
    const link = offers.find(({ offer_id }) => offer_id === offerId)?.link
    assert.ok(link, `offer ${offerId} is shown`)
    return (await world.follow(link)).clickId
  }

  /** A new visitor who has unlocked it by this offer. */
  async function unlocked(offerId: number) {
    const { state, ...known } = await arrive()
    const clickId = await start(state, offerId)
    await world.confirm(offerId, clickId)
    const { data } = await visit(known)
    assert.equal(data.is_unlocked, true)
    return { known, clickId, proof: data.proof }
  }

  return { ...app, lockerId, slug, visit, open, redeem, passOf, arrive, start, unlocked }
}
