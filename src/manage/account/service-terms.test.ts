// Terms of service: what was accepted as a version, and what was shown to who accepts.
import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { MailServer } from '../../../test/mail-server.ts'
import { PASSWORD, visit, Visitor } from '../../../test/people.ts'
import { createForm, openSignUp, sendForm, signUpAs, takeLink, TERMS } from '../../../test/sign-ups.ts'
import { useWorld } from '../../../test/world.ts'

let mails: MailServer
let operator: Visitor
const world = useWorld('service_terms', async () => {
  mails = await new MailServer().open()
  await world.app.close()
  world.config = { ...world.config, smtpUrl: mails.url }
  world.app = await world.start()
  operator = await visit(world, 'operator')
})
after(() => mails.close())
beforeEach(() => openSignUp(world.database.db))

async function settings(more: object) {
  const { data } = await operator.get<Record<string, unknown>>('/sign-up/settings')
  const { has_mail: _, last_hour: __, unverified: ___, ...kept } = data
  return { ...kept, ...more }
}

test('what was accepted as a version stays what it was, also after other versions or none', async () => {
  const { db } = world.database
  const set = async (terms: object | null) => {
    const { status, error } = await operator.put('/sign-up/settings', await settings({ terms }))
    return status === 400 ? Object.keys(error.details ?? {}) : status
  }
  const fair = { ...TERMS, version: 'kept' }
  const unfair = { ...fair, text: 'Be unfair.' }
  const next = { ...TERMS, version: 'kept-2' }
  const draft = { ...TERMS, version: 'kept-3' }
  await openSignUp(db, { terms: fair })
  const form = createForm({ terms_version: 'kept' })
  assert.equal((await sendForm(world, form)).status, 200)
  assert.equal(await set(next), 200)
  assert.deepEqual(await set(unfair), ['terms.version'], 'accepted with a form whose link is still to be opened')
  assert.equal(await set(fair), 200)
  const token = await takeLink(mails, form.email)
  const visitor = new Visitor(world)
  assert.equal((await visitor.post('/sign-up/verify', { token, password: PASSWORD })).status, 200)
  for (const between of [next, null]) {
    assert.equal(await set(between), 200)
    assert.deepEqual(await set(unfair), ['terms.version'])
    assert.deepEqual(await set({ ...fair, text: null, url: 'https://example.com/terms' }), ['terms.version'])
    assert.equal(await set({ ...next, text: 'Be kind.' }), 200, 'nobody has accepted this version')
    assert.equal(await set(fair), 200, 'the same terms again')
  }
  assert.equal(await set(next), 200)
  assert.equal((await visitor.post('/me/terms', { version: next.version })).status, 200)
  assert.equal(await set(draft), 200)
  assert.deepEqual(await set({ ...next, text: 'Be unfair.' }), ['terms.version'], 'accepted in the dashboard')
  assert.equal(await set(next), 200)
})

test('terms whose text is not known, because they were accepted long ago, change under a new version only', async () => {
  const { db } = world.database
  await openSignUp(db, { terms: { ...TERMS, version: 'old' } })
  const { publisherId } = await signUpAs(world, mails, { terms_version: 'old' })
  await db.updateTable('accepted_service_terms').set({ terms_hash: null }).where('publisher_id', '=', publisherId).execute() // prettier-ignore
  await db.updateTable('applications').set({ terms_hash: null }).where('publisher_id', '=', publisherId).execute()
  const statusOf = async (more: object) => (await operator.put('/sign-up/settings', await settings(more))).status
  assert.equal(await statusOf({ intro: 'Welcome.' }), 200, 'the terms stay')
  assert.equal(await statusOf({ terms: { ...TERMS, version: 'old', text: 'Be unfair.' } }), 400)
  assert.equal(await statusOf({ terms: null }), 200)
  assert.equal(await statusOf({ terms: { ...TERMS, version: 'old' } }), 400)
  assert.equal(await statusOf({ terms: { ...TERMS, version: 'new' } }), 200)
})
