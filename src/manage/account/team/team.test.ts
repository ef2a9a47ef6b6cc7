import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { MailServer } from '../../../../test/mail-server.ts'
import { createPerson, publisherOfApp, visit, Visitor } from '../../../../test/people.ts'
import { SECRET_KEY, useWorld } from '../../../../test/world.ts'
import { listAuditEntries } from '../../../features/accounts/audit.ts'
import { createResetLink } from '../../../features/accounts/reset-links.ts'

let mails: MailServer
const world = useWorld('team', async () => {
  mails = await new MailServer().open()
  await world.app.close()
  world.config = { ...world.config, smtpUrl: mails.url }
  world.app = await world.start()
})
after(() => mails.close())

/** The token of the link in the mail to this address. */
async function mailedToken(email: string): Promise<string> {
  const [link = ''] = /https:\S+/.exec(await mails.take(email, /invited/)) ?? []
  return new URL(link).hash.slice(1)
}

type Team = {
  people: { id: string; email: string; role: string; disabled_at: string | null }[]
  invitations: { invitation_id: number; email: string; role: string }[]
}
type Issued = { url: string | null; mailed: boolean }

async function createPublisher() {
  const { appId } = await world.createApp()
  const publisherId = await publisherOfApp(world, appId)
  return { publisherId, base: `/publishers/${publisherId}`, owner: await visit(world, 'publisher_owner', publisherId) }
}

const latest = async (action: string, publisherId?: number) =>
  (await listAuditEntries(world.database.db, { action, ...(publisherId === undefined ? {} : { publisherId }) }, 1))[0]

test('an owner invites, sees the invitation, and the person who opens its link joins the team', async () => {
  const { publisherId, base, owner } = await createPublisher()
  const { data } = await owner.post<Issued>(`${base}/invitations`, { email: 'New@Example.com', role: 'publisher_developer' }) // prettier-ignore
  assert.deepEqual(data, { url: null, mailed: true }) // opening the link verifies the address
  const open = await owner.get<Team>(`${base}/people`)
  assert.deepEqual(open.data.invitations.map(({ email, role }) => [email, role]), [['new@example.com', 'publisher_developer']]) // prettier-ignore
  assert.equal(open.text.includes('inv_'), false, 'the link is shown once')
  const entry = await latest('invitation.create', publisherId)
  assert.deepEqual(entry?.details, { email: 'New@Example.com', role: 'publisher_developer' })

  const guest = new Visitor(world)
  const token = await mailedToken('New@Example.com')
  // The person enters another address: the invitation's counts.
  await guest.post('/invitation/accept', {
    token,
    name: 'Nia',
    email: 'x@example.com',
    password: 'a good long password',
  })
  const { data: me } = await guest.get<{ email: string; publisher: { publisher_id: number } }>('/me')
  assert.deepEqual([me.email, me.publisher.publisher_id], ['new@example.com', publisherId])
  assert.deepEqual((await owner.get<Team>(`${base}/people`)).data.invitations, [])
  assert.equal((await latest('person.join', publisherId))?.who, 'new@example.com')
})

test('a revoked invitation no longer works', async () => {
  const { publisherId, base, owner } = await createPublisher()
  await owner.post(`${base}/invitations`, { email: 'a@example.com', role: 'publisher_owner' })
  const invitationId = (await owner.get<Team>(`${base}/people`)).data.invitations[0]?.invitation_id
  const token = await mailedToken('a@example.com')
  assert.equal((await owner.delete(`${base}/invitations/${invitationId}`)).status, 200)
  assert.equal((await new Visitor(world).post('/invitation', { token })).status, 404)
  assert.equal((await latest('invitation.revoke', publisherId))?.subject, String(invitationId))
})

test('an address has one open link, the latest; a used one cannot be revoked', async () => {
  const { base, owner } = await createPublisher()
  const invite = async () => {
    await owner.post(`${base}/invitations`, { email: 'b@example.com', role: 'publisher_developer' })
    const id = (await owner.get<Team>(`${base}/people`)).data.invitations[0]?.invitation_id
    return { id, token: await mailedToken('b@example.com') }
  }
  const [first, second] = [await invite(), await invite()]
  const accept = ({ token }: { token: string }) =>
    new Visitor(world).post('/invitation/accept', { token, name: 'B', password: 'a good long password' })
  assert.equal((await accept(first)).status, 404)
  assert.equal((await accept(second)).status, 200)
  assert.equal((await owner.delete(`${base}/invitations/${second.id}`)).status, 404)
})

test('our mail server cannot be used to write to strangers', async () => {
  const { base, owner } = await createPublisher()
  const statuses = []
  for (let i = 0; i < 11; i++)
    statuses.push((await owner.post(`${base}/invitations`, { email: `s${i}@example.com`, role: 'publisher_developer' })).status) // prettier-ignore
  assert.deepEqual([...new Set(statuses)], [200, 429])
})

test('what was not asked for is refused, and comes not into the audit log', async () => {
  const { publisherId, base, owner } = await createPublisher()
  const { id } = await createPerson(world, 'publisher_developer', publisherId)
  const { status, error } = await owner.patch(`${base}/people/${id}`, { disabled: false, note: 'the operator said so' })
  assert.deepEqual(
    [status, error.details],
    [400, { note: 'note is not a parameter of this endpoint: check the spelling.' }],
  )
  for (const name of ['toString', 'valueOf', 'hasOwnProperty']) {
    const inherited = await owner.patch(`${base}/people/${id}`, { disabled: false, [name]: 'x' })
    assert.deepEqual([inherited.status, Object.keys(inherited.error.details ?? {})], [400, [name]])
  }
  assert.equal(await latest('person.change', publisherId), undefined)
})

test('members see the people and change nothing; readers of the network, too', async () => {
  const { publisherId, base } = await createPublisher()
  const other = await createPerson(world, 'publisher_developer', publisherId)
  for (const visitor of [
    await visit(world, 'publisher_developer', publisherId),
    await visit(world, 'operator_reader'),
  ]) {
    assert.equal((await visitor.get(`${base}/people`)).status, 200)
    for (const { status, error } of [
      await visitor.post(`${base}/invitations`, { email: 'x@example.com', role: 'publisher_developer' }),
      await visitor.patch(`${base}/people/${other.id}`, { role: 'publisher_owner' }),
      await visitor.delete(`${base}/invitations/1`),
    ])
      assert.deepEqual([status, error.code], [403, 'NOT_ALLOWED'])
  }
})

test('people of another publisher, and operators, are out of reach', async () => {
  const [ours, theirs] = [await createPublisher(), await createPublisher()]
  const stranger = await createPerson(world, 'publisher_developer', theirs.publisherId)
  const operator = await createPerson(world, 'operator')
  await theirs.owner.post(`${theirs.base}/invitations`, { email: 'x@example.com', role: 'publisher_developer' })
  const [invitation] = (await theirs.owner.get<Team>(`${theirs.base}/people`)).data.invitations
  for (const { status } of [
    await ours.owner.get(`${theirs.base}/people`),
    await ours.owner.post(`${theirs.base}/invitations`, { email: 'y@example.com', role: 'publisher_owner' }),
    await ours.owner.patch(`${ours.base}/people/${stranger.id}`, { disabled: true }),
    await ours.owner.patch(`${ours.base}/people/${operator.id}`, { disabled: true }),
    await ours.owner.delete(`${ours.base}/invitations/${invitation?.invitation_id}`),
    await ours.owner.get('/operators/people'),
    await ours.owner.post('/operators/invitations', { email: 'y@example.com', role: 'operator' }),
    await ours.owner.patch(`${ours.base}/people/nobody`, { disabled: true }),
  ])
    assert.equal(status, 404)
})

test('no one becomes an operator through a publisher, nor a publisher’s member through the network', async () => {
  const { publisherId, base, owner } = await createPublisher()
  const member = await createPerson(world, 'publisher_developer', publisherId)
  const operator = await visit(world, 'operator')
  for (const { status, error } of [
    await owner.post(`${base}/invitations`, { email: 'x@example.com', role: 'operator' }),
    await owner.patch(`${base}/people/${member.id}`, { role: 'operator' }),
    await operator.post('/operators/invitations', { email: 'x@example.com', role: 'publisher_owner' }),
  ])
    assert.deepEqual([status, error.code, Object.keys(error.details ?? {})], [400, 'INVALID_REQUEST', ['role']])
})

test('who is kept out is out at once, with every session and token, and may be let in again', async () => {
  const { publisherId, base, owner } = await createPublisher()
  const member = await createPerson(world, 'publisher_developer', publisherId)
  const visitor = await new Visitor(world).signIn(member.email)
  const program = new Visitor(world)
  program.token = (await visitor.post<{ token: string }>('/me/tokens', { name: 'job' })).data.token
  const link = await createResetLink(world.database.db, SECRET_KEY, { publicUrl: world.config.publicUrl, personId: member.id }, new Date()) // prettier-ignore
  assert.equal((await owner.patch(`${base}/people/${member.id}`, { disabled: true })).status, 200)
  assert.equal((await visitor.get('/me')).status, 401)
  assert.equal((await program.get('/me')).status, 401)
  const entry = await latest('person.change', publisherId)
  assert.deepEqual([entry?.subject, entry?.details], [member.id, { email: member.email, disabled: true }])
  await owner.patch(`${base}/people/${member.id}`, { disabled: false })
  const reset = { token: new URL(link).hash.slice(1), password: 'another good password' }
  assert.equal((await new Visitor(world).post('/password/reset', reset)).status, 400)
  await new Visitor(world).signIn(member.email)
})

test('owners cannot remove themselves, so there is always one left', async () => {
  const { publisherId, base, owner } = await createPublisher()
  const second = await createPerson(world, 'publisher_owner', publisherId)
  await owner.patch(`${base}/people/${second.id}`, { role: 'publisher_developer' })
  const { data: me } = await owner.get<{ id: string }>('/me')
  for (const body of [{ disabled: true }, { role: 'publisher_developer' }]) {
    const { status, error } = await owner.patch(`${base}/people/${me.id}`, body)
    assert.deepEqual([status, error.code], [409, 'CONFLICT'])
  }
  const { data } = await owner.get<Team>(`${base}/people`)
  assert.deepEqual(data.people.map(({ role }) => role).toSorted(), ['publisher_developer', 'publisher_owner'])
})

test('a person’s invitations are void once they are disabled, or no longer an owner, even at that very moment', async () => {
  const { publisherId, base, owner } = await createPublisher()
  for (const change of [{ disabled: true }, { role: 'publisher_developer' }]) {
    const inviter = await createPerson(world, 'publisher_owner', publisherId)
    const visitor = await new Visitor(world).signIn(inviter.email)
    const ask = (email: string) => visitor.post<Issued>(`${base}/invitations`, { email, role: 'publisher_owner' })
    await ask('back-door@example.com')
    const token = await mailedToken('back-door@example.com')
    const [changed] = await Promise.all([
      owner.patch(`${base}/people/${inviter.id}`, change),
      ...Array.from({ length: 8 }, (_, i) => ask(`late-${i}@example.com`)),
    ])
    assert.equal(changed.status, 200)
    assert.deepEqual((await owner.get<Team>(`${base}/people`)).data.invitations, [])
    assert.equal((await new Visitor(world).post('/invitation', { token })).status, 404)
    await owner.patch(`${base}/people/${inviter.id}`, { disabled: false })
    assert.equal((await new Visitor(world).post('/invitation', { token })).status, 404)
  }
})

test('an invalid address, an existing member and an unknown publisher are reported', async () => {
  const { base, owner } = await createPublisher()
  const { data: me } = await owner.get<{ email: string }>('/me')
  const odd = await owner.post(`${base}/invitations`, { email: 'not an address', role: 'publisher_developer' })
  assert.deepEqual([odd.status, odd.error.message], [400, '"not an address" is not an email address.'])
  const again = await owner.post(`${base}/invitations`, { email: me.email.toUpperCase(), role: 'publisher_developer' })
  assert.equal(again.status, 409)
  const operator = await visit(world, 'operator')
  assert.equal((await operator.get('/publishers/999999/people')).status, 404)
  const nowhere = await operator.post('/publishers/999999/invitations', { email: 'x@example.com', role: 'publisher_owner' }) // prettier-ignore
  assert.equal(nowhere.status, 404)
})
