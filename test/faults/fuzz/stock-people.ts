// Links of mails, second factors and sessions, of people who are there for nothing else.
import { verificationWriter } from '../../../src/features/accounts/email-verification.ts'
import { invite } from '../../../src/features/accounts/invitations.ts'
import { createResetLink } from '../../../src/features/accounts/reset-links.ts'
import type { Role } from '../../../src/features/accounts/people.ts'
import type { Trx } from '../../../src/db/open.ts'
import { PASSWORD, totp } from '../../people.ts'
import { accepting, changeSignUp, createForm, openSignUp, seen, takeLink, TERMS } from '../../sign-ups.ts'
import { TESTER } from '../../tester.ts'
import { SECRET_KEY } from '../../world.ts'
import { addMember, bySession, type Callers, cookieOf } from './callers.ts'
import type { Header } from './request.ts'
import type { Place, Stock } from './stock.ts'

/** Of what can be used once. */
const EACH = 6
const NEXT_TERMS = { ...TERMS, version: '2' }

export async function addPeople(place: Place, callers: Callers, stock: Stock): Promise<void> {
  if (place.episode === 0) await addSignUps(place, stock) // only so many people may sign up in an hour
  await addLinks(place, callers, stock)
  for (let i = 0; i < EACH; i++) await addSessions(place, callers, stock)
  await addSecondFactors(place, callers, stock)
  const spare = (wanted: Role) => callers.sparePeople.find(({ role }) => role === wanted)?.id ?? ''
  const path = { advertiser_id: String(callers.spareAdvertiser.id), person_id: spare('advertiser') }
  stock.add('changePersonOfAdvertiser', { path, body: { disabled: false } })
  stock.add('changePersonOfNetwork', { path: { person_id: spare('operator_reader') }, body: { disabled: false } })
}

async function addSignUps(place: Place, stock: Stock): Promise<void> {
  const { db } = place.world.database
  await openSignUp(db, { terms: TERMS })
  const forms = Array.from({ length: 3 * EACH + 1 }, () => createForm(accepting(seen(TERMS))))
  for (const form of forms) await post(place, '/sign-up', form)
  const links: { token: string; password: string }[] = []
  for (const { email } of forms) links.push({ token: await takeLink(place.mail, email), password: PASSWORD })
  for (const body of links.splice(0, EACH)) {
    stock.add('getSignUp', { body: { token: body.token } })
    stock.add('verifySignUp', { body })
  }
  for (const [i, link] of links.entries()) {
    const { headers } = await post(place, '/sign-up/verify', link)
    const { publisher } = await get<{ publisher: { publisher_id: number } }>(place, '/me', headers)
    const path = { publisher_id: String(publisher.publisher_id) }
    if (i < EACH) stock.add('approveApplication', { path, body: {} })
    else if (i < 2 * EACH) stock.add('refuseApplication', { path, body: { reason: 'Spam.' } })
    else stock.add('acceptTerms', { headers, body: seen(NEXT_TERMS) })
  }
  await changeSignUp(db, { terms: NEXT_TERMS })
  stock.add('signUp', () => ({ body: createForm(accepting(seen(NEXT_TERMS))) }))
}

async function addLinks(
  { world }: Place,
  { sparePublisher, spareAdvertiser, sparePeople }: Callers,
  stock: Stock,
): Promise<void> {
  const inTransaction = <T>(work: (trx: Trx) => Promise<T>) => world.database.db.transaction().execute(work)
  const now = new Date()
  for (const { id, email } of sparePeople.slice(0, EACH)) {
    const invited = { email: `joins-${email}`, role: 'publisher_viewer', publisherId: sparePublisher.id, advertiserId: null, invitedBy: null } as const // prettier-ignore
    const { token } = await inTransaction((trx) => invite(trx, TESTER, SECRET_KEY, invited, now))
    stock.add('getInvitation', { body: { token } })
    stock.add('acceptInvitation', { body: { token, name: 'Joe', password: PASSWORD } })
    const teams = { revokeInvitationOfNetwork: {}, revokeInvitationOfAdvertiser: { advertiser_id: spareAdvertiser.id } }
    for (const [operation, team] of Object.entries<{ advertiser_id?: number }>(teams)) {
      const { advertiser_id: advertiserId = null } = team
      const role = advertiserId === null ? 'operator_reader' : 'advertiser'
      const guest = { email: `${role}-${email}`, role, publisherId: null, advertiserId, invitedBy: null } as const
      const { invitation_id } = await inTransaction((trx) => invite(trx, TESTER, SECRET_KEY, guest, now))
      stock.add(operation, { path: { invitation_id: String(invitation_id), advertiser_id: String(advertiserId) } })
    }
    const reset = await inTransaction((trx) => createResetLink(trx, SECRET_KEY, { publicUrl: '', personId: id }, now))
    stock.add('resetPassword', { body: { token: tokenIn(reset), password: PASSWORD } })
    const writer = verificationWriter({ secretKey: SECRET_KEY, publicUrl: '' })
    const mail = await inTransaction((trx) => writer.write(trx, id, now))
    if (mail !== null) stock.add('verifyEmail', { body: { token: tokenIn(mail.text) } })
  }
}

async function addSessions(place: Place, { sparePublisher }: Callers, stock: Stock): Promise<void> {
  const member = await addMember(place, 'publisher_owner', sparePublisher.id)
  const headers = bySession(member, place.url)
  await post(place, '/session', { email: member.email, password: PASSWORD })
  const { sessions } = await get<{ sessions: { id: string; is_current: boolean }[] }>(place, '/me/sessions', headers)
  for (const { id, is_current } of sessions) if (!is_current) stock.add('endSession', { path: { session_id: id }, headers }) // prettier-ignore
  const made = await post<{ token_id: number }>(place, '/me/tokens', { name: 'Job' }, headers)
  stock.add('revokeToken', { path: { token_id: String(made.data.token_id) }, headers })
}

/** One who is about to set it up, one who is about to sign in with it, and one who gives it up. */
async function addSecondFactors(place: Place, { sparePublisher }: Callers, stock: Stock): Promise<void> {
  const begin = async () => {
    const member = await addMember(place, 'publisher_owner', sparePublisher.id)
    const headers = bySession(member, place.url)
    const { data } = await post<{ uri: string }>(place, '/me/two-factor', { password: PASSWORD }, headers)
    const secret = new URL(data.uri).searchParams.get('secret') ?? ''
    const confirm = () => post(place, '/me/two-factor/confirm', { code: totp(secret) }, headers)
    return { member, headers, secret, confirm }
  }
  for (let i = 0; i < EACH; i++) {
    const { headers, secret } = await begin()
    stock.add('confirmTwoFactor', () => ({ headers, body: { code: totp(secret) } }))
    const over = await begin()
    const ended = await over.confirm()
    stock.add('disableTwoFactor', { headers: ended.headers[0]?.[1] === '' ? over.headers : ended.headers, body: { password: PASSWORD } }) // prettier-ignore
    const { member, secret: known, confirm } = await begin()
    await confirm()
    const half = await post(place, '/session', { email: member.email, password: PASSWORD })
    // Its code of now is used up.
    stock.add('signInWithCode', () => ({ headers: half.headers, body: { code: totp(known, Date.now() + 30_000) } }))
  }
}

const tokenIn = (text: string) => /#(?:token=)?([\w.~-]+)/.exec(text)?.[1] ?? ''

type Answered<T> = { data: T; headers: Header[] }

let count = 0

/** `headers` of the answer: of who is signed in by it. */
async function post<T>({ url }: Place, path: string, body: object, headers: Header[] = []): Promise<Answered<T>> {
  const from = `10.${3 + (count >> 8)}.${count++ & 255}.1` // a network of its own
  const all = {
    ...Object.fromEntries(headers),
    Origin: url,
    'content-type': 'application/json',
    'x-forwarded-for': from,
  }
  const answer = await fetch(`${url}/manage/v1${path}`, { method: 'POST', headers: all, body: JSON.stringify(body) })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`)
  const { data } = JSON.parse(text) as { data: T }
  return { data, headers: [['Cookie', cookieOf(answer)], ['Origin', url]] } // prettier-ignore
}

async function get<T>({ url }: Place, path: string, headers: Header[]): Promise<T> {
  const answer = await fetch(`${url}/manage/v1${path}`, { headers: Object.fromEntries(headers) })
  return ((await answer.json()) as { data: T }).data
}
