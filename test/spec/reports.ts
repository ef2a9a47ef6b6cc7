// Reports of conversions, sent as they are given, and what every answer to them has.
import assert from 'node:assert/strict'
import type { InjectOptions } from 'fastify'
import type { IssuedCredentials } from '../../src/features/apps/keys.ts'
import type { Reply, World } from '../world.ts'

let users = 0
export const newUser = () => `user ${users++}`

export function assertShared({ headers, body }: Reply): void {
  assert.equal(headers['x-request-id'], body.meta.request_id)
  assert.match(body.meta.request_id, /^req_/)
  for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'])
    assert.match(headers[name] ?? '', /^\d+$/, name)
  assert.equal(headers['content-type'], 'application/json')
}

export function assertInvalid(reply: Reply, why: string): void {
  assert.equal(reply.status, 400, why)
  assert.equal(reply.body.success, false)
  assert.equal(reply.body.error.code, 'INVALID_REQUEST', why)
  assert.match(reply.body.error.message, /^[A-Z].*\.$/)
  assertShared(reply)
}

export function createReporter(given: () => { world: World; live: IssuedCredentials }) {
  /** Sends a body as it is, by default as JSON. */
  function send(payload: string, headers: Record<string, string> = {}, path = '/v1/conversions'): Promise<Reply> {
    const options: InjectOptions = {
      method: 'POST',
      payload,
      headers: { 'content-type': 'application/json', ...headers },
    }
    const { world, live } = given()
    return world.get(path, live, options)
  }

  async function detailsOf(body: unknown): Promise<Record<string, string>> {
    const reply = await send(JSON.stringify(body))
    assertInvalid(reply, JSON.stringify(body))
    assert.ok(reply.body.error.details !== null)
    return reply.body.error.details
  }

  return { send, detailsOf }
}
