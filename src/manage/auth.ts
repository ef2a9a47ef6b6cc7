// Signing in, by better-auth: passwords, sessions and second factors are not written by hand.
//
// Its own routes are not served. Ours call it, so that every way in is in the description of the API, counted and checked
// like everything else (gate.ts).
import { betterAuth } from 'better-auth'
import { symmetricDecrypt, symmetricEncrypt } from 'better-auth/crypto'
import { twoFactor } from 'better-auth/plugins'
import type { FastifyRequest } from 'fastify'
import type { Db } from '../db/open.ts'
import { hashPassword, verifyPassword } from '../features/accounts/password-hash.ts'
import { isDisabled, MAX_PASSWORD, MIN_PASSWORD, type Role } from '../features/accounts/people.ts'
import { sessionSecrets } from '../features/accounts/session-keys.ts'
import { createSecretHash } from '../lib/tokens.ts'
import type { Caller } from './gate.ts'

const WEEK_S = 7 * 86_400 // without any use
const LONGEST_MS = 30 * 86_400_000 // however much it is used
const DAY_S = 86_400
const ADDRESS_HEADER = 'x-client-address'

const TIMES = { createdAt: 'created_at', updatedAt: 'updated_at' }

export type AuthOptions = { db: Db; secretKey: string; publicUrl: string }

export function createAuth({ db, secretKey, publicUrl }: AuthOptions) {
  const hash = createSecretHash(secretKey)
  return betterAuth({
    appName: 'Offerdeck',
    baseURL: publicUrl,
    basePath: '/manage/v1/auth',
    // The first signs and encrypts; encrypted data names its key. Data without a name was created with the oldest.
    secret: sessionSecrets(secretKey).at(-1)?.value ?? '',
    secrets: sessionSecrets(secretKey),
    database: { db, type: 'postgres', transaction: true },
    telemetry: { enabled: false },
    logger: { disabled: true },
    rateLimit: { enabled: false }, // the gate counts
    advanced: {
      cookiePrefix: 'offerdeck',
      useSecureCookies: publicUrl.startsWith('https:'),
      // Our migrations see to the tables. Looking through them fails while a partition is dropped.
      database: { generateId: 'uuid', validateSchema: false },
      // Whole: people look in the list of their sessions for the address that they have.
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER], ipv6Subnet: 128 },
    },
    emailAndPassword: {
      enabled: true,
      disableSignUp: true, // invitations only
      minPasswordLength: MIN_PASSWORD,
      maxPasswordLength: MAX_PASSWORD,
      password: { hash: (password) => hashPassword(password), verify: verifyPassword },
    },
    session: {
      modelName: 'sessions',
      fields: {
        userId: 'person_id',
        expiresAt: 'expires_at',
        ipAddress: 'ip_address',
        userAgent: 'user_agent',
        ...TIMES,
      },
      additionalFields: {
        provenAt: { type: 'date', required: false, input: false, fieldName: 'proven_at' },
        withCode: { type: 'boolean', required: false, input: false, fieldName: 'with_code' },
      },
      expiresIn: WEEK_S,
      updateAge: DAY_S,
    },
    user: {
      modelName: 'people',
      fields: { emailVerified: 'email_verified', ...TIMES },
      additionalFields: {
        role: { type: 'string', required: true, input: false },
        publisherId: { type: 'number', required: false, input: false, fieldName: 'publisher_id' },
        advertiserId: { type: 'number', required: false, input: false, fieldName: 'advertiser_id' },
        disabledAt: { type: 'date', required: false, input: false, fieldName: 'disabled_at' },
      },
    },
    account: {
      modelName: 'sign_ins',
      fields: {
        userId: 'person_id',
        accountId: 'account_id',
        providerId: 'provider_id',
        accessToken: 'access_token',
        refreshToken: 'refresh_token',
        idToken: 'id_token',
        accessTokenExpiresAt: 'access_token_expires_at',
        refreshTokenExpiresAt: 'refresh_token_expires_at',
        ...TIMES,
      },
    },
    verification: {
      modelName: 'verifications',
      fields: { expiresAt: 'expires_at', ...TIMES },
      storeIdentifier: { hash: async (identifier) => hash(identifier) }, // as reset-links.ts does
    },
    // Every way in ends with a session: a disabled person gets none. A new session means that the person was just
    // verified.
    databaseHooks: {
      session: {
        create: {
          before: async ({ userId }) => ((await isDisabled(db, userId)) ? false : { data: { provenAt: new Date() } }),
        },
      },
    },
    plugins: [
      twoFactor({
        issuer: 'Offerdeck',
        schema: {
          twoFactor: {
            modelName: 'two_factors',
            fields: {
              userId: 'person_id',
              backupCodes: 'backup_codes',
              failedVerificationCount: 'failed_verification_count',
              lockedUntil: 'locked_until',
            },
          },
          user: { fields: { twoFactorEnabled: 'two_factor_enabled' } },
        },
      }),
    ],
  })
}

export type Auth = ReturnType<typeof createAuth>

/** Encrypts as better-auth does. */
export const seal = (auth: Auth) => async (text: string) =>
  symmetricEncrypt({ key: (await auth.$context).secretConfig, data: text })

/** Opens what better-auth keeps encrypted. */
export const openSealed = (auth: Auth) => async (sealed: string) =>
  symmetricDecrypt({ key: (await auth.$context).secretConfig, data: sealed })

/**
 * A person whose password was right and whose code is still to come: the random part of the cookie that says so, and
 * headers with nothing but that cookie, so that no one is checked by one cookie and signed in by another.
 */
export function challengeOf(request: FastifyRequest): { id: string; headers: Headers } | null {
  const [, name = '', value = ''] =
    /(?:^|; *)((?:__Secure-)?offerdeck\.two_factor)=([^;]+)/.exec(request.headers.cookie ?? '') ?? []
  const [, id] = /^([\w-]+)\./.exec(value) ?? []
  if (id === undefined) return null
  const headers = authHeaders(request)
  headers.set('cookie', `${name}=${value}`)
  return { id, headers }
}

/** What better-auth may know of a request. */
export function authHeaders({ headers, ip }: FastifyRequest): Headers {
  const known = new Headers({ [ADDRESS_HEADER]: ip })
  // A request with a token is its owner's, and no one else's.
  if (headers.cookie !== undefined && headers.authorization === undefined) known.set('cookie', headers.cookie)
  if (headers['user-agent'] !== undefined) known.set('user-agent', headers['user-agent'].slice(0, 500))
  return known
}

export async function findCaller(auth: Auth, request: FastifyRequest): Promise<Caller | null> {
  if (request.headers.cookie === undefined) return null
  const { response: found, headers } = await auth.api.getSession({
    headers: authHeaders(request),
    returnHeaders: true,
  })
  if (found === null || found.user.disabledAt) return null
  if (Date.now() - found.session.createdAt.getTime() > LONGEST_MS) return null
  const { id, name, email, role, publisherId, advertiserId, twoFactorEnabled } = found.user
  // One that was opened by the password alone while the second factor was being enabled.
  if (twoFactorEnabled && !found.session.withCode) return null
  return {
    id,
    name,
    email,
    role: role as Role,
    publisherId: publisherId ?? null,
    advertiserId: advertiserId ?? null,
    hasSecondFactor: twoFactorEnabled ?? false,
    session: { id: found.session.id, provenAt: found.session.provenAt ?? new Date(0) },
    token: null,
    renewed: headers.getSetCookie(),
  }
}
