// Who may have strangers mailed by an invitation, and how often.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { MailServer } from '../../../../test/mail-server.ts'
import { publisherOfApp, visit, type Visitor } from '../../../../test/people.ts'
import { openSignUp, signUpAs } from '../../../../test/sign-ups.ts'
import { useWorld } from '../../../../test/world.ts'

let mails: MailServer
const world = useWorld('invitation_limits', async () => {
  mails = await new MailServer().open()
  await world.app.close()
  world.config = { ...world.config, smtpUrl: mails.url }
  world.app = await world.start()
})
after(() => mails.close())

const invite = (visitor: Visitor, publisherId: number, email: string) =>
  visitor.post(`/publishers/${publisherId}/invitations`, { email, role: 'publisher_viewer' })
const inviteStatus = async (...given: Parameters<typeof invite>) => (await invite(...given)).status

async function createTeam() {
  const { appId } = await world.createApp()
  const publisherId = await publisherOfApp(world, appId)
  return { publisherId, owner: await visit(world, 'publisher_owner', publisherId) }
}

/** As if they had been created some hours ago. */
const age = (publisherId: number, hours: number) =>
  world.database.pool.query(
    `UPDATE invitations SET created_at = created_at - make_interval(hours => $2) WHERE publisher_id = $1`,
    [publisherId, hours],
  )

test('a publisher that signed up invites once it is approved, and not if it is refused', async () => {
  await openSignUp(world.database.db)
  const operator = await visit(world, 'operator')
  const words = { company: 'You won: claim at evil.example', name: 'Bank Security Team' }
  const { visitor, publisherId } = await signUpAs(world, mails, words)
  const pending = await invite(visitor, publisherId, 'victim@stranger.example')
  assert.equal(pending.status, 409)
  assert.match(pending.error.message, /awaiting approval/)
  const path = `/publishers/${publisherId}/application`
  assert.equal((await operator.post(`${path}/refuse`, { reason: 'Spam.' })).status, 200)
  const refused = await invite(visitor, publisherId, 'victim@stranger.example')
  assert.equal(refused.status, 409)
  assert.match(refused.error.message, /refused/)
  const { rows } = await world.database.pool.query(`SELECT FROM mails WHERE kind = 'invitation'`)
  assert.equal(rows.length, 0)
  assert.equal(await inviteStatus(operator, publisherId, 'known@example.com'), 200, 'by an operator')
  assert.equal((await operator.post(`${path}/approve`)).status, 200)
  assert.equal(await inviteStatus(visitor, publisherId, 'colleague@example.com'), 200)
  const suspend = await operator.patch(`/publishers/${publisherId}/permissions`, { status: 'suspended' })
  assert.equal(suspend.status, 200, suspend.text)
  assert.equal(await inviteStatus(visitor, publisherId, 'helper@example.com'), 200, 'suspended later')
})

test('one mailbox gets three invitations a day from a team, and ten from all', async () => {
  const operator = await visit(world, 'operator')
  const teams = [await createTeam(), await createTeam(), await createTeam(), await createTeam()]
  const statuses = []
  for (const { owner, publisherId } of teams)
    for (const email of ['vic@example.com', 'Vic+1@example.com', 'vic+2@example.com', 'vic@example.com'])
      statuses.push(await inviteStatus(owner, publisherId, email))
  assert.deepEqual(statuses, [200, 200, 200, 429, 200, 200, 200, 429, 200, 200, 200, 429, 200, 429, 429, 429])
  const [{ owner, publisherId }] = teams as [(typeof teams)[number]]
  assert.equal(await inviteStatus(owner, publisherId, 'another@example.com'), 200)
  assert.equal(await inviteStatus(operator, publisherId, 'vic@example.com'), 200)
  for (const team of teams) await age(team.publisherId, 24)
  assert.equal(await inviteStatus(owner, publisherId, 'vic@example.com'), 200)
})

test('a team invites fifty times a day, also with replaced and revoked invitations, and of two at once', async () => {
  const { owner, publisherId } = await createTeam()
  await world.database.pool.query(
    `INSERT INTO invitations (token_hash, email, role, publisher_id, mailed, created_at, expires_at, revoked_at)
     SELECT 'limit-' || n, 's' || n || '@example.com', 'publisher_viewer', $1, true, now(), now() + interval '7 days', now()
     FROM generate_series(1, 49) n`,
    [publisherId],
  )
  const both = await Promise.all(['a@example.com', 'b@example.com'].map((email) => invite(owner, publisherId, email)))
  assert.deepEqual(both.map(({ status }) => status).toSorted((a, b) => a - b), [200, 429]) // prettier-ignore
  assert.match(both.find(({ status }) => status === 429)?.error.message ?? '', /tomorrow/)
  await age(publisherId, 24)
  assert.equal(await inviteStatus(owner, publisherId, 'c@example.com'), 200)
})
