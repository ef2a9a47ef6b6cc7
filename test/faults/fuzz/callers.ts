// Everyone who may call: apps with their keys, people of every role with a session and a token, advertisers. What an
// operation can take away from a caller (a key, a session, an account) is asked for on spare ones, so that the others
// still get past the gates at the end.
import { SCOPES } from '../../../src/features/accounts/access-tokens.ts'
import { createAdvertiser } from '../../../src/features/accounts/advertisers.ts'
import { isOperatorRole, type Role, ROLES } from '../../../src/features/accounts/people.ts'
import { createPublisher } from '../../../src/features/accounts/publishers.ts'
import { createApp } from '../../../src/features/apps/apps.ts'
import type { IssuedCredentials } from '../../../src/features/apps/keys.ts'
import { changeRewardSettings } from '../../../src/features/apps/reward-settings.ts'
import { createLocker } from '../../../src/features/lockers/lockers.ts'
import { readImportRecord } from '../../../src/features/offers/import-record.ts'
import { upsertOffers } from '../../../src/features/offers/upsert.ts'
import { DEFAULTS, saveSettings } from '../../../src/features/postbacks/settings.ts'
import { isPublishers } from '../../operations.ts'
import { createPerson, createToken, PASSWORD } from '../../people.ts'
import { TESTER } from '../../tester.ts'
import { NEW_APP, SECRET_KEY, type World } from '../../world.ts'
import type { Header } from './request.ts'

const APPS = 3
const OFFERS = 8
/** Of each role: a person may ask 600 times a minute. */
const PEOPLE = 8
const SPARE_PEOPLE = 3

export type AppKeys = { appId: number; live: IssuedCredentials; test: IssuedCredentials }
export type Member = { id: string; role: Role; email: string; cookie: string; token: string }
type Company = { id: number; apps: AppKeys[] }

export type Callers = {
  publisher: Company
  sparePublisher: Company
  advertiser: { id: number; token: string }
  spareAdvertiser: { id: number; token: string }
  people: Member[]
  sparePeople: Member[]
}

type Place = { world: World; url: string; receiverUrl: string; episode: number }

export async function createCallers(place: Place): Promise<Callers> {
  const { episode } = place
  const advertiser = await addAdvertiser(place, `Fuzz ads ${episode}`)
  const spareAdvertiser = await addAdvertiser(place, `Spare ads ${episode}`)
  const publisher = await addPublisher(place, `Fuzz ${episode}`)
  const sparePublisher = await addPublisher(place, `Spare ${episode}`)
  const people: Member[] = []
  const sparePeople: Member[] = []
  for (const role of ROLES) {
    const teamOf = (publisherId: number, advertiserId: number) =>
      isOperatorRole(role) ? null : isPublishers(role) ? publisherId : { publisherId: null, advertiserId }
    for (let i = 0; i < PEOPLE; i++) people.push(await addMember(place, role, teamOf(publisher.id, advertiser.id)))
    for (let i = 0; i < SPARE_PEOPLE; i++)
      sparePeople.push(await addMember(place, role, teamOf(sparePublisher.id, spareAdvertiser.id)))
  }
  return { publisher, sparePublisher, advertiser, spareAdvertiser, people, sparePeople }
}

async function addPublisher({ world, url, receiverUrl }: Place, name: string): Promise<Company> {
  const { db } = world.database
  const { publisher_id } = await createPublisher(db, TESTER, name)
  const apps: AppKeys[] = []
  for (let i = 0; i < APPS; i++) {
    const { app_id, live, test } = await createApp(db, TESTER, SECRET_KEY, {
      publisherId: publisher_id,
      name: `${name} app ${i}`,
      ...NEW_APP,
    })
    if (i === 0) await changeRewardSettings(db, TESTER, app_id, { keepsBalance: true })
    const postbacks = { ...DEFAULTS, url: `${receiverUrl}/?user={user_id}&status={status}&id={transaction_id}` }
    await saveSettings(db, TESTER, SECRET_KEY, app_id, postbacks)
    await createLocker(db, TESTER, { publicUrl: url }, app_id, { name: 'Content' })
    await createLocker(db, TESTER, { publicUrl: url }, app_id, { name: 'A link', link: { target_url: 'https://files.example.com/a.zip' } }) // prettier-ignore
    apps.push({ appId: app_id, live, test })
  }
  return { id: publisher_id, apps }
}

async function addAdvertiser({ world }: Place, advertiser: string) {
  const { db } = world.database
  const { advertiser_id, token } = await createAdvertiser(db, TESTER, SECRET_KEY, advertiser)
  const offers = Array.from({ length: OFFERS }, (_, line) => {
    const read = readImportRecord({ advertiser, external_id: `o${line}`, name: `Offer ${line}`, category: 'app', payout: '1', revenue: '1.5', destination_url: 'https://ads.example.com/?c={click_id}', ...(line === 0 ? { pin_position: '1' } : {}) }) // prettier-ignore
    if ('problems' in read) throw new Error(JSON.stringify(read.problems))
    return { line, offer: read.offer }
  })
  await upsertOffers(db, offers)
  return { id: advertiser_id, token }
}

let members = 0

export async function addMember(
  { world, url }: Omit<Place, 'episode'>,
  role: Role,
  team: Parameters<typeof createPerson>[2],
): Promise<Member> {
  const { id, email } = await createPerson(world, role, team)
  const { token } = await createToken(world, id, SCOPES)
  const signedIn = await fetch(`${url}/manage/v1/session`, {
    method: 'POST',
    headers: { origin: url, 'content-type': 'application/json', 'x-forwarded-for': `10.1.${(members >> 8) & 255}.${members++ & 255}` }, // prettier-ignore
    body: JSON.stringify({ email, password: PASSWORD }),
  })
  if (signedIn.status !== 200) throw new Error(`Signing in: ${signedIn.status} ${await signedIn.text()}`)
  return { id, role, email, cookie: cookieOf(signedIn), token: token ?? '' }
}

/** Of who is signed in by this answer. */
export const cookieOf = ({ headers }: Response): string => headers.getSetCookie().map((one) => one.split(';')[0]).join('; ') // prettier-ignore

export const bySession = ({ cookie }: Member, url: string): Header[] => [['Cookie', cookie], ['Origin', url]] // prettier-ignore
export const byToken = ({ token }: Member): Header[] => [['Authorization', `Bearer ${token}`]]
export const byKey = ({ api_key, api_secret }: IssuedCredentials): Header[] => [['X-API-Key', api_key], ['X-API-Secret', api_secret]] // prettier-ignore

/** What must not be in any answer, by a name that stands for it where a request is printed. */
export function secretsOf(callers: Callers): Map<string, string> {
  const secrets = new Map<string, string>()
  const addCompany = (name: string, { apps }: Company) =>
    apps.forEach(({ live, test }, i) => {
      for (const [mode, keys] of Object.entries({ live, test })) {
        secrets.set(keys.api_secret, `<secret of ${name} ${i} ${mode}>`)
        secrets.set(keys.signing_secret, `<signing secret of ${name} ${i} ${mode}>`)
      }
    })
  addCompany('app', callers.publisher)
  addCompany('spare app', callers.sparePublisher)
  const addPeople = (name: string, people: Member[]) =>
    people.forEach(({ cookie, token }, i) => {
      secrets.set(cookie.slice(cookie.indexOf('=') + 1), `<session of ${name} ${i}>`)
      secrets.set(token, `<token of ${name} ${i}>`)
    })
  addPeople('person', callers.people)
  addPeople('spare person', callers.sparePeople)
  secrets.set(callers.advertiser.token, '<token of advertiser>')
  secrets.set(callers.spareAdvertiser.token, '<token of spare advertiser>')
  return secrets
}
