// Mails about tickets, to a real mail server.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, beforeEach, test } from 'node:test'
import { MailServer } from '../../../test/mail-server.ts'
import { createPerson, publisherOfApp, visit } from '../../../test/people.ts'
import { TESTER } from '../../../test/tester.ts'
import { PUBLIC_URL, SECRET_KEY, useWorld } from '../../../test/world.ts'
import { createPostman } from '../../postman.ts'
import type { Postman } from '../accounts/mails.ts'
import { permit } from '../apps/permissions.ts'
import { DEFAULTS } from './settings-schema.ts'
import { setWallSettings } from './settings.ts'
import { answerTicket, setTicketStatus } from './ticket-answers.ts'
import type { NewTicket } from './ticket-schema.ts'
import { openTicket, writeToTicket } from './tickets.ts'

let mails: MailServer
let postman: Postman
const world = useWorld('ticket_mails', async () => {
  mails = await new MailServer().open()
  const config = { ...world.config, smtpUrl: mails.url }
  postman = createPostman({ config, secretKey: SECRET_KEY, database: world.database }) as Postman
})
after(async () => {
  await postman.close()
  await mails.close()
})
beforeEach(async () => {
  await world.database.db.deleteFrom('mails').execute()
  mails.got.length = 0
})

const SEEN = { country: null, device: null, os: null }
const USER_TEXT = 'Sign in at https://evil.example to unlock your account'

/** An app with an owner, and what its users and people do. */
async function createAsked() {
  const { db } = world.database
  const { appId } = await world.createApp()
  const publisherId = await publisherOfApp(world, appId)
  const owner = await createPerson(world, 'publisher_owner', publisherId)
  const user = (userId: string, isTest = false) => ({ appId, isTest, userId })
  const ask = (userId: string, more: Partial<NewTicket> = {}) =>
    openTicket(db, user(userId), SEEN, { key: randomUUID(), kind: 'question', text: USER_TEXT, ...more }, new Date())
  const write = (userId: string, ticketId: string) =>
    writeToTicket(db, user(userId), ticketId, { key: randomUUID(), text: 'And this' }, new Date())
  const answer = (ticketId: string, text = 'Yes.', now = new Date()) =>
    answerTicket(db, TESTER, appId, ticketId, { key: randomUUID(), text, hasMail: true }, now)
  return { appId, publisherId, owner, user, ask, write, answer }
}

const addressesOf = () => mails.got.flatMap(({ to }) => to).toSorted()

/** What was sent, and to whom; it is removed. */
async function send(): Promise<string[]> {
  await postman.send()
  const to = addressesOf()
  mails.got.length = 0
  return to
}

test('the people who may answer get one mail when a ticket begins to wait for them, without the words of the user', async () => {
  const { appId, publisherId, owner, ask, write, answer } = await createAsked()
  const { db } = world.database
  const developer = await createPerson(world, 'publisher_developer', publisherId)
  for (const role of ['publisher_viewer', 'publisher_finance'] as const) await createPerson(world, role, publisherId)
  const gone = await createPerson(world, 'publisher_owner', publisherId)
  await db.updateTable('people').set({ disabled_at: new Date() }).where('id', '=', gone.id).execute()
  const both = [owner.email, developer.email].toSorted()

  const ticketId = await ask('ann')
  await write('ann', ticketId)
  await postman.send()
  assert.deepEqual(addressesOf(), both)
  const text = await mails.take(developer.email, /App: a user opened a ticket/)
  assert.ok(text.includes(`${PUBLIC_URL}/apps/${appId}/tickets/${ticketId}`), text)
  assert.doesNotMatch(text, /evil|ann\b/)
  mails.got.length = 0
  await write('ann', ticketId)
  assert.deepEqual(await send(), [])
  await answer(ticketId)
  assert.deepEqual(await send(), [], 'the user gave no address')
  await write('ann', ticketId)
  await write('ann', ticketId)
  assert.deepEqual(await send(), both)
  await setTicketStatus(db, TESTER, appId, ticketId, 'closed', new Date())
  await setTicketStatus(db, TESTER, appId, ticketId, 'open', new Date())
  assert.deepEqual(await send(), [], 'they know')
})

test('a ticket that was closed without an answer is not a new one when its user writes again', async () => {
  const { appId, owner, ask, write } = await createAsked()
  const ticketId = await ask('ann')
  await write('ann', ticketId)
  await postman.send()
  await mails.take(owner.email, /App: a user opened a ticket/)
  await setTicketStatus(world.database.db, TESTER, appId, ticketId, 'closed', new Date())
  await write('ann', ticketId)
  await postman.send()
  await mails.take(owner.email, /App: a user wrote again to a ticket/)
})

test('a ticket that was answered before the mail is sent needs none; of many tickets a day the first are mailed', async () => {
  const { ask, answer } = await createAsked()
  await answer(await ask('ann'))
  assert.deepEqual(await send(), [])
  for (let i = 0; i < 55; i++) await ask(`user ${i}`)
  const { rows } = await world.database.pool.query<{ count: number }>(`SELECT count(*) FROM mails WHERE kind = 'ticket' AND status = 'queued'`) // prettier-ignore
  assert.equal(Number(rows[0]?.count), 49)
})

test('an answer is mailed in the language of the wall with the way back, and no one else’s words or secrets', async () => {
  const { appId, ask, answer } = await createAsked()
  await setWallSettings(world.database.db, TESTER, appId, { ...DEFAULTS, parents: ['https://games.example.com'] })
  const ticketId = await ask('ann', { email: 'Ann@example.com', lang: 'de' })
  await send()
  await answer(ticketId, 'Die Münzen sind da.')
  await postman.send()
  const text = await mails.take('Ann@example.com', /=\?UTF-8|App: Antwort auf deine Frage/)
  for (const part of [
    'Die Münzen sind da.',
    'App erneut',
    '„Hilfe“',
    'https://games.example.com',
    'nur Antworten darauf',
  ])
    assert.ok(text.includes(part), `${part}: ${text}`)
  assert.doesNotMatch(text, /evil|sig=|exp=|@/)
  assert.equal(mails.got.length, 0)
  await answer(ticketId)
  assert.deepEqual(await send(), ['Ann@example.com'])
})

test('nothing goes to a user before a person answers, about test tickets, or for a suspended publisher', async () => {
  const { appId, publisherId, user, ask, write, answer } = await createAsked()
  const { db } = world.database
  const ticketId = await ask('ann', { email: 'ann@example.com' })
  await write('ann', ticketId)
  await setTicketStatus(db, TESTER, appId, ticketId, 'closed', new Date())
  assert.deepEqual((await send()).filter((to) => to === 'ann@example.com'), []) // prettier-ignore
  const test = await openTicket(db, user('ann', true), SEEN, { key: randomUUID(), kind: 'other', text: 'x', email: 'ann@example.com' }, new Date()) // prettier-ignore
  await answer(test)
  assert.deepEqual(await send(), [])
  await answer(ticketId)
  await ask('bob') // nobody of a suspended publisher may answer
  await permit(db, TESTER, publisherId, { status: 'suspended' })
  assert.deepEqual(await send(), [])
})

test('a mailbox gets five answers a day at most, however its address is written and whoever answers at the same time', async () => {
  const { ask, answer } = await createAsked()
  const other = await createAsked()
  const addresses = ['victim@example.com', 'VICTIM@example.com', 'victim+1@example.com', 'Victim+x.y@Example.com']
  const asked = await Promise.all(addresses.flatMap((email, i) => [ask(`a${i}`, { email }), ask(`b${i}`, { email })]))
  const elsewhere = await other.ask('c', { email: 'victim@example.com' })
  await world.database.db.deleteFrom('mails').execute()
  await Promise.all([...asked.map((ticketId) => answer(ticketId)), other.answer(elsewhere)])
  assert.equal((await send()).length, 5)
  await answer(asked[0] ?? '', 'Tomorrow', new Date(Date.now() + 25 * 3_600_000))
  assert.equal((await send()).length, 1)
})

test('200 answers a day are mailed for an app, to whomever', async () => {
  const { ask, answer } = await createAsked()
  const busy = await ask('busy', { email: 'busy@example.com' })
  const mailed = (i: number) => ({ message_id: randomUUID(), ticket_id: busy, submit_key: randomUUID(), text: 'x', author: 'p', emailed_to: `${i}@example.com`, created_at: new Date() }) // prettier-ignore
  await world.database.db.insertInto('ticket_messages').values(Array.from({ length: 199 }, (_, i) => mailed(i))).execute() // prettier-ignore
  const [ann, bob] = [await ask('ann', { email: 'ann@example.com' }), await ask('bob', { email: 'bob@example.com' })]
  await world.database.db.deleteFrom('mails').execute()
  await answer(ann)
  await answer(bob)
  assert.deepEqual(await send(), ['ann@example.com'])
})

test('the management API says whether answers are mailed, and sends them at once where there is a mail server', async () => {
  const { ask, appId, publisherId } = await createAsked()
  const ticketId = await ask('ann', { email: 'ann@example.com' })
  const path = `/apps/${appId}/tickets/${ticketId}`
  type Shown = { emails_answers: boolean; messages: { is_emailed: boolean }[] }
  const answer = async (text: string) => {
    const owner = await visit(world, 'publisher_owner', publisherId)
    const { emails_answers } = (await owner.get<Shown>(path)).data
    const { data } = await owner.post<Shown>(`${path}/messages`, { key: randomUUID(), text })
    return [emails_answers, ...data.messages.map(({ is_emailed }) => is_emailed)]
  }
  assert.deepEqual(await answer('By the wall'), [false, false, false])
  await world.app.close()
  world.config = { ...world.config, smtpUrl: mails.url }
  world.app = await world.start()
  assert.deepEqual(await answer('By mail, too'), [true, false, false, true])
  assert.match(await mails.take('ann@example.com', /App: answer to your question/), /By mail, too/)
})
