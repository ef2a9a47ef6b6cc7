// People signed in to the management API, for tests through the door.
import { createHmac } from 'node:crypto'
import type { InjectOptions } from 'fastify'
import { createAccessToken, type Scope } from '../src/features/accounts/access-tokens.ts'
import { hashPassword } from '../src/features/accounts/password-hash.ts'
import { addPerson, type Person, type Role, type Team } from '../src/features/accounts/people.ts'
import { changePerson } from '../src/features/accounts/team.ts'
import { SECRET_KEY, type World } from './world.ts'
import { TESTER } from './tester.ts'

export const PASSWORD = 'correct horse battery'

export type Answer<T = Record<string, never>> = {
  status: number
  data: T
  error: { code: string; message: string; details: Record<string, string> | null }
  cookies: string[]
  text: string
}

let count = 0

const PASSWORD_HASH = await hashPassword(PASSWORD)

/** A person with a password, of a publisher or of another team; operators have none. */
export function createPerson(
  world: World,
  role: Role,
  team: number | null | Team = null,
  { name = `Person ${count}`, email = `person-${count++}@example.com` }: { name?: string; email?: string } = {},
): Promise<Person> {
  const person = { ...teamOf(team), name, email, role, passwordHash: PASSWORD_HASH }
  return world.database.db.transaction().execute((trx) => addPerson(trx, person))
}

const teamOf = (team: number | null | Team): Team =>
  typeof team === 'object' && team !== null ? team : { publisherId: team }

type Kept = Pick<Person, 'id' | 'publisher_id'> & Partial<Pick<Person, 'advertiser_id'>>

export const keepOut = (world: World, { id, publisher_id, advertiser_id = null }: Kept) =>
  world.database.db
    .transaction()
    .execute((trx) =>
      changePerson(
        trx,
        TESTER,
        { personId: id, publisherId: publisher_id, advertiserId: advertiser_id, byOperator: true },
        { disabled: true },
        new Date(),
      ),
    )

export const publisherOfApp = async (world: World, appId: number) =>
  (
    await world.database.db
      .selectFrom('apps')
      .select('publisher_id')
      .where('app_id', '=', appId)
      .executeTakeFirstOrThrow()
  ).publisher_id

/** A browser, as far as the API can see: it keeps cookies and says where it is. */
export class Visitor {
  readonly #world: World
  readonly #cookies = new Map<string, string>()
  readonly #address = `10.${count >> 16}.${(count >> 8) & 255}.${count++ & 255}`
  token: string | null = null

  constructor(world: World) {
    this.#world = world
  }

  async send<T>(method: string, path: string, body?: unknown, more: InjectOptions = {}): Promise<Answer<T>> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await this.#world.app.server.inject({
      method: method as 'GET',
      url: `/manage/v1${path}`,
      remoteAddress: this.#address,
      ...more,
      headers: {
        ...(this.token === null ? { origin: this.#world.config.publicUrl } : { authorization: `Bearer ${this.token}` }),
        ...(cookie === '' ? {} : { cookie }),
        'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Chrome/150.0',
        ...(more.headers as object),
      },
      ...(body === undefined ? {} : { payload: body as object }),
    })
    const cookies = [answer.headers['set-cookie'] ?? []].flat()
    for (const one of cookies) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(one) ?? []
      if (value === '' || /Max-Age=0/i.test(one)) this.#cookies.delete(name)
      else this.#cookies.set(name, value)
    }
    const { data, error } = (
      String(answer.headers['content-type']).startsWith('application/json') ? JSON.parse(answer.body) : {}
    ) as Answer<T>
    return { status: answer.statusCode, data, error, cookies, text: answer.body }
  }

  get = <T>(path: string) => this.send<T>('GET', path)
  post = <T>(path: string, body: unknown = {}) => this.send<T>('POST', path, body)
  put = <T>(path: string, body: unknown = {}) => this.send<T>('PUT', path, body)
  patch = <T>(path: string, body: unknown = {}) => this.send<T>('PATCH', path, body)
  delete = <T>(path: string) => this.send<T>('DELETE', path)

  async signIn(email: string, password = PASSWORD): Promise<this> {
    const { status, text } = await this.post('/session', { email, password })
    if (status !== 200) throw new Error(`Signing in: ${status} ${text}`)
    return this
  }
}

/** A new person of this role, signed in. */
export async function visit(world: World, role: Role, team: number | null | Team = null): Promise<Visitor> {
  const { email } = await createPerson(world, role, team)
  return new Visitor(world).signIn(email)
}

/** A program with a new token of a person. */
export async function createToken(world: World, personId: string, scopes: readonly Scope[], allowedIps: string[] = []) {
  const wanted = { personId, name: `Job ${count++}`, scopes, days: 1, allowedIps }
  const { token } = await world.database.db
    .transaction()
    .execute((trx) => createAccessToken(trx, TESTER, SECRET_KEY, wanted, new Date()))
  const program = new Visitor(world)
  program.token = token
  return program
}

/** Turns the second factor on; its first code is used up by that. */
export async function setUpSecondFactor(visitor: Visitor) {
  const { data } = await visitor.post<{ uri: string; backup_codes: string[] }>('/me/two-factor', { password: PASSWORD })
  const secret = new URL(data.uri).searchParams.get('secret') ?? ''
  const usedCode = totp(secret)
  const { status, text } = await visitor.post('/me/two-factor/confirm', { code: usedCode })
  if (status !== 200) throw new Error(`Setting up a second factor: ${status} ${text}`)
  return { secret, usedCode, uri: data.uri, backupCodes: data.backup_codes }
}

/** RFC 6238, as an authenticator does it. */
export function totp(secret: string, now = Date.now()): string {
  const bits = Array.from(secret, (letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0')).join('') // prettier-ignore
  const key = Buffer.from(bits.match(/.{8}/g)?.map((byte) => Number.parseInt(byte, 2)) ?? [])
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(now / 30_000)))
  const mac = createHmac('sha1', key).update(counter).digest()
  const number = mac.readUInt32BE((mac.at(-1) ?? 0) & 15) & 0x7fff_ffff
  return String(number % 1_000_000).padStart(6, '0')
}
