// Tickets: what a signed user can ask, what nobody else can see, and how the publisher's people answer.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { PIXEL, pngOf } from '../../../test/images.ts'
import { until } from '../../../test/installation.ts'
import { createOwnedApps } from '../../../test/owned-apps.ts'
import { visit } from '../../../test/people.ts'
import { TESTER } from '../../../test/tester.ts'
import { BROWSER, useWorld } from '../../../test/world.ts'
import { banUser } from '../apps/bans.ts'
import type { IssuedCredentials } from '../apps/keys.ts'
import { permit } from '../apps/permissions.ts'
import { forgetOldTickets } from './old-tickets.ts'
import { DEFAULTS } from './settings-schema.ts'
import { signUser } from './signature.ts'
import type { WallTicket, WallTicketList } from './ticket-schema.ts'

const world = useWorld('tickets')
const { createOwned, auditOf } = createOwnedApps(world)

const signed = ({ api_key: apiKey, signing_secret }: IssuedCredentials, userId: string, lifeS = 600) => {
  const expiresAtS = Math.floor(Date.now() / 1000) + lifeS
  return { apiKey, userId, exp: String(expiresAtS), sig: signUser(signing_secret, { apiKey, userId, expiresAtS }) }
}

type Answer = { status: number; data: WallTicketList & { ticket: WallTicket; content: string; type: string }; details: Record<string, string> } // prettier-ignore

async function ask(
  path: string,
  query: Record<string, string>,
  payload?: object | string,
  type = 'application/json',
): Promise<Answer> {
  const answer = await world.app.server.inject({
    method: payload === undefined ? 'GET' : 'POST',
    url: `/wall/v1/tickets${path}?${new URLSearchParams(query).toString()}`,
    headers: { 'user-agent': BROWSER, ...(payload === undefined ? {} : { 'content-type': type }) },
    ...(payload === undefined ? {} : { payload }),
  })
  const { data, error } = JSON.parse(answer.body) as { data: Answer['data']; error?: { details: Answer['details'] } }
  return { status: answer.statusCode, data, details: error?.details ?? {} }
}
const question = (more: object = {}) => ({
  key: randomUUID(),
  kind: 'question',
  text: 'How long does it take?',
  ...more,
})

test('a ticket carries the user’s own click and device, and its image is seen by user and publisher alone', async () => {
  const { live, base, visitor, appId } = await createOwned()
  const [offerId = 0] = await world.createOffers({})
  const { clickId } = await world.click(offerId, live, 'userId=ann')
  const ann = signed(live, 'ann')
  const opened = await ask('', ann, question({ kind: 'not_credited', offer_id: offerId, image: Buffer.concat([PIXEL, Buffer.from('52.5163 N')]).toString('base64'), email: 'ann@example.com' })) // prettier-ignore
  assert.equal(opened.status, 200, JSON.stringify(opened.details))
  const { ticket } = opened.data
  const [message] = ticket.messages
  assert.deepEqual([ticket.offer_id, ticket.status, message?.is_mine, message?.has_image], [offerId, 'open', true, true]) // prettier-ignore
  const { data } = await visitor.get<Record<string, unknown>>(`${base}/tickets/${ticket.ticket_id}`)
  assert.deepEqual(
    [data['user_id'], data['click_id'], data['device'], data['os'], data['email']],
    ['ann', clickId, 'desktop', 'linux', 'ann@example.com'],
  )
  const path = `/${ticket.ticket_id}/messages/${message?.message_id}/image`
  const image = { type: 'image/png', content: PIXEL.toString('base64') }
  assert.deepEqual((await ask(path, ann)).data, image)
  assert.deepEqual((await visitor.get(`${base}/tickets${path}`)).data, image)
  const other = await createOwned()
  assert.equal((await ask(path, signed(live, 'bob'))).status, 404)
  assert.equal((await ask(path, signed(other.live, 'ann'))).status, 404)
  assert.equal((await other.visitor.get(`${base}/tickets${path}`)).status, 404)
  assert.equal((await other.visitor.get(`${other.base}/tickets${path}`)).status, 404)
  assert.equal((await other.visitor.patch(`${other.base}/tickets/${ticket.ticket_id}`, { status: 'closed' })).status, 404) // prettier-ignore
  assert.deepEqual((await auditOf(appId)).length, 0)
})

test('a user sees and writes to own tickets only, in the mode of the key', async () => {
  const { live, test: testKeys } = await world.createApp()
  const { ticket_id } = (await ask('', signed(live, 'ann'), question())).data.ticket
  const message = { key: randomUUID(), text: 'Hello' }
  for (const other of [signed(live, 'bob'), signed(testKeys, 'ann'), signed(live, 'Ann')]) {
    assert.deepEqual((await ask('', other)).data.tickets, [])
    assert.equal((await ask(`/${ticket_id}/messages`, other, message)).status, 404)
  }
  assert.equal((await ask(`/${ticket_id}/messages`, signed(live, 'ann'), message)).data.ticket.messages.length, 2)
  await ask('', signed(live, 'ann'), question())
  const first = await ask('', { ...signed(live, 'ann'), limit: '1' })
  const second = await ask('', { ...signed(live, 'ann'), limit: '1', cursor: first.data.next_cursor ?? '' })
  assert.deepEqual([second.data.tickets[0]?.ticket_id, second.data.next_cursor], [ticket_id, null])
})

test('without a valid signature there are no tickets, and no body is read', async () => {
  const { live } = await world.createApp()
  const { sig: _sig, exp: _exp, ...unsigned } = signed(live, 'ann')
  const large = question({ image: 'A'.repeat(1_900_000) })
  for (const [query, field] of [
    [unsigned, 'sig'],
    [{ ...signed(live, 'ann'), userId: 'bob' }, 'sig'],
    [signed(live, 'ann', -1), 'exp'],
    [{ apiKey: live.api_key }, 'sig'],
    [{}, 'apiKey'],
  ] as const) {
    const { status, details } = await ask('', query, large)
    assert.ok(status === 400 || status === 401)
    assert.deepEqual(Object.keys(details), [field])
    assert.ok(field in (await ask('', query)).details)
  }
})

test('who is signed is named once', async () => {
  const { live } = await world.createApp()
  const { sig } = signed(live, 'ann')
  const query = new URLSearchParams({ ...signed(live, 'ann'), sig }).toString()
  for (const more of ['userId=bob', 'apiKey=x', 'exp=1', 'sig=%zz'])
    for (const method of ['GET', 'POST'] as const) {
      const answer = await world.app.server.inject({ method, url: `/wall/v1/tickets?${query}&${more}` })
      const { error } = JSON.parse(answer.body) as { error: { code: string; details: object } }
      assert.deepEqual([answer.statusCode, error.code], [400, 'INVALID_REQUEST'], more)
      assert.deepEqual(Object.keys(error.details), [more.split('=')[0]])
    }
})

test('an offer that the user has not started is refused, and the page cannot name a click', async () => {
  const { live } = await world.createApp()
  const [offerId = 0] = await world.createOffers({})
  const { clickId } = await world.click(offerId, live, 'userId=victim')
  const thief = signed(live, 'thief')
  assert.deepEqual(Object.keys((await ask('', thief, question({ offer_id: offerId }))).details), ['offer_id'])
  assert.deepEqual(Object.keys((await ask('', thief, question({ click_id: clickId }))).details), ['click_id'])
  assert.deepEqual(Object.keys((await ask('', thief, question({ offer_id: 999_999_999 }))).details), ['offer_id'])
})

test('hostile texts and images are refused or kept as they are, as text', async () => {
  const { live } = await world.createApp()
  const refused = async (user: string, more: object) => Object.keys((await ask('', signed(live, user), question(more))).details) // prettier-ignore
  assert.deepEqual(await refused('a', { text: '' }), ['text'])
  assert.deepEqual(await refused('a', { text: ' \n ' }), ['text'])
  assert.deepEqual(await refused('a', { text: 'x'.repeat(2_001) }), ['text'])
  assert.deepEqual(await refused('a', { text: 'a\0b', kind: 'refund' }), ['text', 'kind'])
  assert.deepEqual(await refused('b', { email: 'a@b.example\r\nBcc: all@example.com', key: 'x' }), ['key', 'email'])
  for (const email of [
    'a@b.example,c@d.example',
    'group:a@b.example',
    '(x)a@b.example',
    '"a"@b.example',
    'a@b',
    'a@[127.0.0.1]',
  ])
    assert.deepEqual(await refused(`email ${email}`, { email, text: '' }), ['text', 'email'], email)
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')
  for (const image of [
    svg,
    Buffer.from('GIF89a<script>'),
    pngOf(5_000, 1),
    Buffer.concat([PIXEL, Buffer.alloc(1_048_576)]),
  ])
    // prettier-ignore
    assert.deepEqual(await refused(`image ${image.length}`, { image: image.toString('base64') }), ['image'])
  assert.deepEqual(await refused('c', { image: 'A'.repeat(2_200_000) }), ['body'])
  const text = "<img src=x onerror=alert(1)> \u202e {{7*7}} '; DROP TABLE tickets; --"
  assert.equal((await ask('', signed(live, 'd'), question({ text }))).data.ticket.messages[0]?.text, text)
  const plain = await ask('', signed(live, 'd'), JSON.stringify(question()), 'text/plain')
  assert.equal(plain.status, 400)
  assert.equal((await ask('', signed(live, 'd'))).data.tickets.length, 1)
})

test('a repeated submit is one ticket and one message, also at the same time', async () => {
  const { live } = await world.createApp()
  const ann = signed(live, 'ann')
  const submit = question()
  const answers = await Promise.all([1, 2, 3].map(() => ask('', ann, submit)))
  assert.deepEqual(new Set(answers.map(({ data }) => data.ticket.ticket_id)).size, 1)
  const [first] = answers
  const ticket_id = first?.data.ticket.ticket_id ?? ''
  const message = { key: randomUUID(), text: 'Also this' }
  await Promise.all([1, 2].map(() => ask(`/${ticket_id}/messages`, ann, message)))
  const { tickets } = (await ask('', ann)).data
  assert.deepEqual(tickets.map(({ messages }) => messages.map(({ text }) => text)), [[submit.text, 'Also this']]) // prettier-ignore
})

test('a user who writes too much is stopped: by the minute, by open tickets and by the day', async () => {
  const { live, appId } = await world.createApp()
  const flood = await Promise.all(Array.from({ length: 8 }, () => ask('', signed(live, 'flood'), question())))
  assert.deepEqual(flood.filter(({ status }) => status === 429).length, 2)
  const now = new Date()
  const old = (user_id: string) => ({ ticket_id: randomUUID(), app_id: appId, is_test: false, user_id, submit_key: randomUUID(), kind: 'other', status: 'open', created_at: now, updated_at: now }) // prettier-ignore
  const { db } = world.database
  await db.insertInto('tickets').values(Array.from({ length: 9 }, () => old('many'))).execute() // prettier-ignore
  const both = await Promise.all([1, 2].map(() => ask('', signed(live, 'many'), question())))
  assert.deepEqual(
    both.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 400],
  )
  const answered = { ...old('many'), status: 'answered' }
  await db.insertInto('tickets').values(answered).execute()
  const again = () => ask(`/${answered.ticket_id}/messages`, signed(live, 'many'), { key: randomUUID(), text: 'Again' })
  assert.match((await again()).details['text'] ?? '', /10 open tickets/)
  await db.updateTable('tickets').set({ status: 'closed' }).where('user_id', '=', 'many').where('status', '=', 'open').execute() // prettier-ignore
  assert.deepEqual([(await again()).status, (await again()).status], [200, 200])
  const { ticket_id } = (await ask('', signed(live, 'daily'), question())).data.ticket
  const written = (i: number) => ({ message_id: randomUUID(), ticket_id, submit_key: randomUUID(), text: `${i}`, created_at: now }) // prettier-ignore
  await db.insertInto('ticket_messages').values(Array.from({ length: 18 }, (_, i) => written(i))).execute() // prettier-ignore
  const write = () => ask(`/${ticket_id}/messages`, signed(live, 'daily'), { key: randomUUID(), text: 'More' })
  assert.deepEqual([(await write()).status, (await write()).status], [200, 400])
})

test('answers reach the wall at once, two at the same time are both kept, and each is in the audit log', async () => {
  const { live, base, visitor, publisherId } = await createOwned()
  const { ticket_id } = (await ask('', signed(live, 'ann'), question())).data.ticket
  const path = `${base}/tickets/${ticket_id}`
  const other = await visit(world, 'publisher_developer', publisherId)
  const heard: string[] = []
  const stream = await listen(live, 'ann', heard)
  const key = randomUUID()
  await Promise.all([
    visitor.post(`${path}/messages`, { key, text: 'One' }),
    visitor.post(`${path}/messages`, { key, text: 'One' }),
    other.post(`${path}/messages`, { key: randomUUID(), text: 'Two' }),
  ])
  await until(async () => heard.join('').includes('event: tickets'))
  stream.destroy()
  const [ticket] = (await ask('', signed(live, 'ann'))).data.tickets
  assert.equal(ticket?.status, 'answered')
  assert.deepEqual(ticket?.messages.map(({ text }) => text).toSorted(), ['How long does it take?', 'One', 'Two'])
  assert.doesNotMatch(JSON.stringify(ticket), /@example/, 'who answered is not for the user')
  await visitor.patch(path, { status: 'closed' })
  await visitor.patch(path, { status: 'closed' })
  assert.deepEqual((await auditOf(ticket_id)).map(({ action }) => action), ['ticket.answer', 'ticket.answer', 'ticket.close']) // prettier-ignore
  await ask(`/${ticket_id}/messages`, signed(live, 'ann'), { key: randomUUID(), text: 'It is not solved' })
  const open = await visitor.get<{ tickets: { ticket_id: string }[]; open: number }>(`${base}/tickets?status=open&user_id=ann`) // prettier-ignore
  assert.deepEqual([open.data.tickets.map((one) => one.ticket_id), open.data.open], [[ticket_id], 1])
  assert.deepEqual((await visitor.get<{ tickets: [] }>(`${base}/tickets?status=closed`)).data.tickets, [])
  const viewer = await visit(world, 'publisher_viewer', publisherId)
  assert.equal((await viewer.get(path)).status, 200)
  assert.equal((await viewer.post(`${path}/messages`, { key: randomUUID(), text: 'No' })).status, 403)
})

async function listen(keys: IssuedCredentials, userId: string, heard: string[]) {
  const answer = await world.app.server.inject({
    url: `/wall/v1/live?${new URLSearchParams(signed(keys, userId)).toString()}`,
    payloadAsStream: true,
  })
  const stream = answer.stream()
  stream.on('data', (chunk: Buffer) => heard.push(chunk.toString()))
  await until(async () => heard.length > 0)
  return stream
}

test('a banned user may still ask; with support switched off, or a suspended publisher, nobody can', async () => {
  const { live, appId, base, visitor, publisherId } = await createOwned()
  await banUser(world.database.db, TESTER, { appId, userId: 'cheat', reason: 'fraud' })
  await world.app.refresh()
  assert.equal((await ask('', signed(live, 'cheat'), question())).status, 200)
  await visitor.put(`${base}/wall`, { ...DEFAULTS, shows: { ...DEFAULTS.shows, support: false } })
  await until(async () => (await ask('', signed(live, randomUUID()), question())).status === 404)
  await permit(world.database.db, TESTER, publisherId, { status: 'suspended' })
  await world.app.refresh()
  assert.equal((await ask('', signed(live, 'cheat'))).status, 401)
})

test('images are deleted after 90 days, tickets 400 days after the last change', async () => {
  const { live } = await world.createApp()
  const ann = signed(live, 'ann')
  await ask('', ann, question({ image: PIXEL.toString('base64') }))
  const hasImage = async () => (await ask('', ann)).data.tickets.map(({ messages }) => messages[0]?.has_image)
  const inDays = (days: number) => forgetOldTickets(world.database.db, new Date(Date.now() + days * 86_400_000), 400)
  await inDays(89)
  assert.deepEqual(await hasImage(), [true])
  await inDays(91)
  assert.deepEqual(await hasImage(), [false])
  await inDays(401)
  assert.deepEqual(await hasImage(), [])
})
