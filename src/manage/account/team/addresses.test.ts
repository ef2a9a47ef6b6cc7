// Email addresses: what an invitation reveals about one, and who gets it when two people claim it.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { MailServer } from '../../../../test/mail-server.ts'
import {
  keepOut,
  createPerson,
  createToken,
  PASSWORD,
  publisherOfApp,
  visit,
  Visitor,
} from '../../../../test/people.ts'
import { SECRET_KEY, useWorld } from '../../../../test/world.ts'
import { until } from '../../../../test/installation.ts'
import { createPostman } from '../../../postman.ts'
import { listAuditEntries } from '../../../features/accounts/audit.ts'
import type { Postman } from '../../../features/accounts/mails.ts'
import { createResetLink } from '../../../features/accounts/reset-links.ts'

let mails: MailServer
const world = useWorld('addresses', async () => {
  mails = await new MailServer().open()
})
after(() => mails.close())

/** The network sends mail from now on, or no more. */
async function setMail(isOn: boolean): Promise<void> {
  await world.app.close()
  world.config = { ...world.config, smtpUrl: isOn ? mails.url : null }
  world.app = await world.start()
}

async function createTeam() {
  const { appId } = await world.createApp()
  const publisherId = await publisherOfApp(world, appId)
  return { publisherId, base: `/publishers/${publisherId}`, owner: await visit(world, 'publisher_owner', publisherId) }
}

const inviting = (email: string) => ({ email, role: 'publisher_developer' })
const linkIn = (text: string) => /https:\S+/.exec(text)?.[0] ?? ''
const tokenIn = (url: string) => new URL(url).hash.slice(1)
const mailedToken = async (email: string) => tokenIn(linkIn(await mails.take(email, /invited/)))
const accept = (token: string) =>
  new Visitor(world).post('/invitation/accept', { token, name: 'Somebody', password: PASSWORD })
const isVerified = async (email: string) => {
  const visitor = await new Visitor(world).signIn(email)
  return (await visitor.get<{ email_verified: boolean }>('/me')).data.email_verified
}

test('an owner learns nothing about who has an account, and never holds a link', async () => {
  const { base, owner } = await createTeam()
  const [elsewhere, operator] = [await createPerson(world, 'publisher_owner', (await createTeam()).publisherId), await createPerson(world, 'operator')] // prettier-ignore
  for (const isOn of [true, false]) {
    await setMail(isOn)
    const answers = []
    for (const email of ['nobody@example.com', elsewhere.email, operator.email]) {
      const { status, data } = await owner.post(`${base}/invitations`, inviting(email))
      answers.push({ status, data })
    }
    for (const answer of answers) assert.deepEqual(answer, { status: 200, data: { url: null, mailed: isOn } })
  }
})

test('without mail an operator hands the link over, but none for an address that has an account', async () => {
  await setMail(false)
  const { base, owner } = await createTeam()
  const operator = await visit(world, 'operator')
  await owner.post(`${base}/invitations`, inviting('handed@example.com'))
  const { data } = await operator.post<{ url: string }>(`${base}/invitations`, inviting('handed@example.com'))
  assert.equal((await accept(tokenIn(data.url))).status, 200)
  assert.equal(await isVerified('handed@example.com'), false)
  const other = await createTeam()
  const taken = await operator.post(`${other.base}/invitations`, inviting('Handed@example.com'))
  assert.deepEqual([taken.status, taken.error.message], [409, 'Handed@example.com already has an account.'])
})

test('a person who comes by an emailed link has a verified address; an account that never verified it gives way', async () => {
  await setMail(true)
  const [first, second] = [await createTeam(), await createTeam()]
  const squatter = await createPerson(world, 'publisher_developer', first.publisherId)
  const visitor = await new Visitor(world).signIn(squatter.email)
  const program = await createToken(world, squatter.id, ['read'])
  await second.owner.post(`${second.base}/invitations`, inviting(squatter.email))
  const token = await mailedToken(squatter.email)
  const seen = await new Visitor(world).post<{ holder: string }>('/invitation', { token })
  assert.equal(seen.data.holder, 'gives way')
  const rightful = new Visitor(world)
  const joined = await rightful.post('/invitation/accept', { token, name: 'Rightful', password: 'a password of their own' }) // prettier-ignore
  assert.equal(joined.status, 200)
  const { data: me } = await rightful.get<{ email: string; email_verified: boolean; publisher: { publisher_id: number } }>('/me') // prettier-ignore
  assert.deepEqual([me.email, me.email_verified, me.publisher.publisher_id], [squatter.email, true, second.publisherId])
  assert.equal((await visitor.get('/me')).status, 401)
  assert.equal((await program.get('/me')).status, 401)
  assert.equal((await new Visitor(world).post('/session', { email: squatter.email, password: PASSWORD })).status, 401)
  const refused = await first.owner.patch(`${first.base}/people/${squatter.id}`, { disabled: false })
  assert.equal(refused.status, 403)
  const [entry] = await listAuditEntries(world.database.db, { action: 'person.give_way', subject: squatter.id }, 1)
  assert.deepEqual([entry?.publisher_id, entry?.details], [first.publisherId, { email: squatter.email }])
})

test('a verified address, an operator’s and a disabled person’s stay, and only the mailbox is notified', async () => {
  await setMail(true)
  const { base, owner } = await createTeam()
  const other = await createTeam()
  const proven = await createPerson(world, 'publisher_viewer', other.publisherId)
  await world.database.db.updateTable('people').set({ email_verified: true }).where('id', '=', proven.id).execute()
  const disabled = await createPerson(world, 'publisher_viewer', other.publisherId)
  await keepOut(world, disabled)
  for (const { email } of [proven, disabled, await createPerson(world, 'operator')]) {
    await owner.post(`${base}/invitations`, inviting(email))
    const token = await mailedToken(email)
    assert.equal((await new Visitor(world).post<{ holder: string }>('/invitation', { token })).data.holder, 'taken')
    assert.equal((await accept(token)).status, 409)
  }
  assert.equal((await new Visitor(world).post('/session', { email: disabled.email, password: PASSWORD })).status, 401)
  await new Visitor(world).signIn(proven.email)
})

test('an address is verified by an emailed link, once, and by an emailed reset, not by a printed one', async () => {
  await setMail(true)
  const person = await createPerson(world, 'operator')
  const visitor = await new Visitor(world).signIn(person.email)
  assert.equal((await visitor.post('/me/email/verification')).status, 200)
  const token = tokenIn(linkIn(await mails.take(person.email, /Verify/)))
  const rows = await world.database.db.selectFrom('verifications').selectAll().where('value', '=', person.id).execute()
  assert.equal(JSON.stringify(rows).includes(token), false)
  const verify = () => new Visitor(world).post('/email/verify', { token })
  assert.equal((await new Visitor(world).post('/password/reset', { token, password: PASSWORD })).status, 400)
  assert.equal((await verify()).status, 200)
  assert.equal((await verify()).status, 400)
  assert.equal(await isVerified(person.email), true)

  const [mailed, printed] = [await createPerson(world, 'operator'), await createPerson(world, 'operator')]
  await new Visitor(world).post('/password/forgot', { email: mailed.email })
  const links = [
    linkIn(await mails.take(mailed.email, /password/)),
    await createResetLink(world.database.db, SECRET_KEY, { publicUrl: world.config.publicUrl, personId: printed.id }, new Date()), // prettier-ignore
  ]
  for (const link of links)
    assert.equal((await new Visitor(world).post('/password/reset', { token: tokenIn(link), password: PASSWORD })).status, 200) // prettier-ignore
  assert.deepEqual([await isVerified(mailed.email), await isVerified(printed.email)], [true, false])
})

test('where no mail is sent, no one is asked to verify an address', async () => {
  await setMail(false)
  const visitor = await visit(world, 'operator')
  assert.equal((await visitor.post('/me/email/verification')).status, 409)
})

test('an invitation whose mail cannot be sent shows that, is retried, and its link works', async () => {
  await setMail(true)
  const { base, owner } = await createTeam()
  await world.database.db.deleteFrom('mails').execute() // those of sign-ins
  type Listed = { invitations: { email: string; mail: string }[] }
  const mailOf = async (email: string) =>
    (await owner.get<Listed>(`${base}/people`)).data.invitations.find((one) => one.email === email)?.mail
  const retry = (inMs: number) =>
    (createPostman({ config: world.config, secretKey: SECRET_KEY, database: world.database }) as Postman).send(new Date(Date.now() + inMs)) // prettier-ignore
  mails.answer = (command) => (command.startsWith('MAIL FROM') ? '451 not now' : null)
  assert.equal((await owner.post(`${base}/invitations`, inviting('patient@example.com'))).status, 200)
  await until(async () => (await mailOf('patient@example.com')) === 'retrying')
  await assert.rejects(retry(31_000), /451/)
  assert.equal(await mailOf('patient@example.com'), 'retrying')
  mails.answer = () => null
  assert.equal(await retry(32_000), 0, 'not at once again')
  assert.equal(await retry(100_000), 1)
  assert.equal(await mailOf('patient@example.com'), 'sent')
  assert.equal((await accept(await mailedToken('patient@example.com'))).status, 200)

  mails.answer = (command) => (command.startsWith('RCPT TO') ? '550 no such mailbox' : null)
  await owner.post(`${base}/invitations`, inviting('typo@example.com'))
  await until(async () => (await mailOf('typo@example.com')) === 'refused')
  mails.answer = () => null
  assert.equal(await retry(7_000_000), 0)
  await owner.post(`${base}/invitations`, inviting('typo@example.com'))
  await until(async () => (await mailOf('typo@example.com')) === 'sent')
  assert.equal((await accept(await mailedToken('typo@example.com'))).status, 200)
})
