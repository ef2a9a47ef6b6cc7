// Terms of service: what was accepted as a version, and what was shown to who accepts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../../test/installation.ts'
import { PASSWORD, visit, Visitor } from '../../../test/people.ts'
import {
  accepting,
  changeSignUp,
  createForm,
  openSignUp,
  seen,
  sendForm,
  signUpAs,
  takeLink,
  TERMS,
  useSignUps,
} from '../../../test/sign-ups.ts'

const { world, mails, operator, settings } = useSignUps('service_terms')

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
  assert.deepEqual(
    await set({ ...fair, version: '  ' }),
    ['terms.version'],
    'no one could tell which terms they accept',
  )
  await openSignUp(db, { terms: fair })
  const form = createForm(accepting(seen(fair)))
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
  assert.equal((await visitor.post('/me/terms', seen(next))).status, 200)
  assert.equal(await set(draft), 200)
  assert.deepEqual(await set({ ...next, text: 'Be unfair.' }), ['terms.version'], 'accepted in the dashboard')
  assert.equal(await set(next), 200)
})

test('terms whose text is not known, because they were accepted long ago, change under a new version only', async () => {
  const { db } = world.database
  const old = { ...TERMS, version: 'old' }
  await openSignUp(db, { terms: old })
  const { publisherId } = await signUpAs(world, mails, accepting(seen(old)))
  await db.updateTable('accepted_service_terms').set({ terms_hash: null }).where('publisher_id', '=', publisherId).execute() // prettier-ignore
  await db.updateTable('applications').set({ terms_hash: null }).where('publisher_id', '=', publisherId).execute()
  const statusOf = async (more: object) => (await operator.put('/sign-up/settings', await settings(more))).status
  assert.equal(await statusOf({ intro: 'Welcome.' }), 200, 'the terms stay')
  assert.equal(await statusOf({ terms: { ...old, text: 'Be unfair.' } }), 400)
  assert.equal(await statusOf({ terms: null }), 200)
  assert.equal(await statusOf({ terms: old }), 400)
  assert.equal(await statusOf({ terms: { ...TERMS, version: 'new' } }), 200)
})

type Shown = { version: string; text: string; hash: string }

test('only the text that was shown can be accepted, not one that replaced it under its version', async () => {
  const { db } = world.database
  const draft = { ...TERMS, version: '9', text: 'Draft text.' }
  const final = { ...draft, text: 'Final text.' }
  await openSignUp(db, { terms: { ...TERMS, version: '8' } })
  const shownInForm = async () => (await new Visitor(world).get<{ terms: Shown }>('/sign-up')).data.terms
  const { visitor } = await signUpAs(world, mails, accepting(await shownInForm()))
  const shownToOwner = async () => (await visitor.get<{ terms: Shown }>('/me')).data.terms
  const accept = async ({ version, hash }: Shown) => (await visitor.post('/me/terms', { version, hash })).status
  const signUp = async (shown: Shown) => {
    const { status, error } = await sendForm(world, createForm(accepting(shown)))
    return status === 400 ? error.details?.['terms_version'] : status
  }

  await changeSignUp(db, { terms: draft })
  const [inForm, toOwner] = [await shownInForm(), await shownToOwner()]
  assert.deepEqual([inForm.text, toOwner.text], ['Draft text.', 'Draft text.'])
  await changeSignUp(db, { terms: final })
  assert.equal(await signUp(inForm), 'The terms have changed. Read and accept them again.')
  assert.equal(await accept(toOwner), 409)
  assert.equal((await shownToOwner()).text, 'Final text.', 'still to be accepted')
  const { error } = await sendForm(world, createForm({ terms_version: '9' }))
  assert.deepEqual(Object.keys(error.details ?? {}), ['terms_version'], 'a version alone does not say what was shown')
  assert.equal((await visitor.post('/me/terms', { version: '9' })).status, 400)

  assert.equal(await signUp(await shownInForm()), 200)
  assert.equal(await accept(await shownToOwner()), 200)
  assert.equal(await shownToOwner(), null)
})

test('terms that change at the moment in which they are accepted are not accepted', async () => {
  const { db, pool } = world.database
  await openSignUp(db, { terms: { ...TERMS, version: '10' } })
  const form = async () => (await new Visitor(world).get<{ terms: Shown }>('/sign-up')).data.terms
  const { visitor } = await signUpAs(world, mails, accepting(await form()))
  await changeSignUp(db, { terms: { ...TERMS, version: '11' } })
  const { version, hash } = await form()
  const saving = await pool.connect()
  try {
    await saving.query('BEGIN')
    await saving.query(`UPDATE network_settings SET sign_up = jsonb_set(sign_up, '{terms,text}', '"Be unfair."')`)
    let answered = 0
    const answers = [
      visitor.post('/me/terms', { version, hash }),
      sendForm(world, createForm(accepting({ version, hash }))),
    ].map((answer) => answer.finally(() => answered++))
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
    await until(async () => answered + ((await pool.query(waiting)).rowCount ?? 0) >= 2)
    await saving.query('COMMIT')
    assert.deepEqual((await Promise.all(answers)).map(({ status }) => status), [409, 400]) // prettier-ignore
  } finally {
    saving.release(true)
  }
})

test('people that the operator invited are not asked for terms', async () => {
  await openSignUp(world.database.db, { terms: TERMS })
  const { appId } = await world.createApp()
  const { publisher_id } = await world.database.db.selectFrom('apps').select('publisher_id').where('app_id', '=', appId).executeTakeFirstOrThrow() // prettier-ignore
  assert.equal(
    (await (await visit(world, 'publisher_owner', publisher_id)).get<{ terms: unknown }>('/me')).data.terms,
    null,
  )
})
