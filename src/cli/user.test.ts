import assert from 'node:assert/strict'
import { test } from 'node:test'
import { failsWith, useOperator } from '../../test/operator.ts'
import { PASSWORD, totp } from '../../test/people.ts'
import { listAuditEntries } from '../features/accounts/audit.ts'

const { home, serverUrl, world } = useOperator()

/** A browser at the running server. */
function browse() {
  let cookie = ''
  return async (path: string, body: object) => {
    const answer = await fetch(`${serverUrl()}/manage/v1${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: serverUrl(), cookie },
      body: JSON.stringify(body),
    })
    for (const one of answer.headers.getSetCookie()) cookie = `${cookie}; ${one.split(';')[0]}`
    const { data } = (await answer.json()) as { data: Record<string, string & boolean> }
    return { status: answer.status, data }
  }
}

test('a person is invited, and one who lost a second factor signs in with the password again', async () => {
  const email = 'ann@example.com'
  const { url } = await home.json<{ url: string }>('user', 'create', '--email', email, '--role', 'operator')
  failsWith(
    await home.run(['user', 'create', '--email', 'x', '--role', 'operator']),
    /^--email: "x" is not an email address\.$/m,
    2,
  )
  const post = browse()
  assert.equal((await post('/invitation/accept', { token: new URL(url).hash.slice(1), name: 'Ann', password: PASSWORD })).status, 200) // prettier-ignore
  failsWith(await home.run(['user', 'reset-two-factor', email, '--yes']), /has no second factor/)
  failsWith(
    await home.run(['user', 'reset-two-factor', 'nobody@example.com', '--yes']),
    /There is no user with the email address/,
  )
  const { data } = await post('/me/two-factor', { password: PASSWORD })
  failsWith(await home.run(['user', 'reset-two-factor', email, '--yes']), /has no second factor/) // not yet
  const secret = new URL(data['uri'] ?? '').searchParams.get('secret') ?? ''
  assert.equal((await post('/me/two-factor/confirm', { code: totp(secret) })).status, 200)
  assert.equal((await browse()('/session', { email, password: PASSWORD })).data['two_factor'], true)
  assert.match(
    (await home.run(['user', 'reset-two-factor', 'Ann@example.com', '--yes'])).out,
    /signs in with just the password/,
  )
  const [entry] = await listAuditEntries(world.database.db, { action: 'user.' }, 1)
  assert.partialDeepStrictEqual(entry, { action: 'user.reset_two_factor', details: { email } })
  assert.equal((await post('/session/proof', { password: PASSWORD })).status, 401)
  assert.equal((await browse()('/session', { email, password: PASSWORD })).data['two_factor'], false)
})

test('the roles are those of the role table', async () => {
  const { status, err } = await home.run(['user', 'create', '--email', 'x@example.com', '--role', 'publisher_member'])
  assert.notEqual(status, 0)
  for (const role of ['publisher_developer', 'publisher_finance', 'publisher_viewer'])
    assert.match(err, new RegExp(role))
})

test('a user of an app is exported and erased; without --yes nothing is done', async () => {
  const { live } = await world.createApp({ name: 'Shop' })
  const [offerId = 0] = await world.createOffers({})
  await world.click(offerId, live, 'userId=carol&aff_sub=mail')
  const of = ['--app', 'Shop', '--user', 'carol']
  const { out } = await home.run(['user', 'export', ...of])
  const lines = out.trimEnd().split('\n').map((line) => JSON.parse(line) as { kind: string; user_id?: string }) // prettier-ignore
  assert.equal(lines[0]?.user_id, 'carol')
  assert.ok(lines.some(({ kind }) => kind === 'click'))
  assert.match((await home.run(['user', 'erase', ...of])).err, /Nothing was done: add --yes to confirm/)
  assert.match((await home.run(['user', 'erase', ...of, '--yes'])).out, /Erasure \d+ is queued/)
  assert.match((await home.run(['user', 'erase', ...of, '--yes'])).out, /is already under way/)
  assert.match(
    (await home.run(['user', 'erase', '--app', 'Shop', '--user', 'nobody', '--yes'])).out,
    /There is no data about user "nobody"/,
  )
  assert.match((await home.run(['user', 'erasures', '--app', 'Shop'])).out, /erased-/)
  failsWith(await home.run(['user', 'export', '--app', 'Shop2', '--user', 'carol']), /no app/i)
})
