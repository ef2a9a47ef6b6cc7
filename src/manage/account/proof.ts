// Verifies the person of an open session again: before anything that creates people, tokens, secrets or ways in.
import type { FastifyRequest } from 'fastify'
import type { Trx } from '../../db/open.ts'
import { AppError } from '../../errors.ts'
import { recordFailure } from '../../features/accounts/failed-attempts.ts'
import { provePassword } from '../../features/accounts/passwords.ts'
import { lockPerson } from '../../features/accounts/people.ts'
import { useCode, type Verdict } from '../../features/accounts/second-factor.ts'
import { proveSession } from '../../features/accounts/sessions.ts'
import { authHeaders, openSealed } from '../auth.ts'
import type { ManageContext } from '../context.ts'
import type { Caller } from '../gate.ts'
import type { ManageRoutes } from '../route.ts'
import { OK, Ok } from '../shapes.ts'
import { Proof } from './schema.ts'
import { createAttemptLimits } from './attempt-limits.ts'

const WRONG_PASSWORD = 'This password is wrong.'

export function proofRoutes(routes: ManageRoutes, context: ManageContext): void {
  const { db } = context
  const prove = createProver(context)

  routes.post('/session/proof', {
    id: 'proveSession',
    summary: 'Confirm that it is you',
    about: 'Takes your password or a code. Sensitive operations are then open to this session for 15 minutes.',
    tag: 'Your account',
    access: 'session',
    body: Proof,
    reply: Ok,
    async run({ caller, body, request }) {
      if (caller.hasSecondFactor) await prove.code(caller, body.code ?? '', request)
      else await prove.password(caller, body.password ?? '', request)
      await proveSession(db, caller.session?.id ?? '', new Date())
      return OK
    },
  })
}

/** Checks the password or code of a signed-in person. Guessing is slow, and in the audit log. */
export function createProver({ db, auth, limiter }: ManageContext) {
  const attempts = createAttemptLimits(limiter)
  const fail = (caller: Caller, kind: 'password' | 'code', { ip, id: requestId }: FastifyRequest) =>
    recordFailure(db, { person: { ...caller, publisher_id: caller.publisherId }, kind, ip, requestId }, new Date())

  return {
    /** The hash that the password matches. */
    async password(caller: Caller, password: string, request: FastifyRequest, field = 'password'): Promise<string> {
      await attempts.countOf(caller)
      const hash = await provePassword(db, caller.id, password)
      if (hash !== null) return hash
      await fail(caller, 'password', request)
      throw new AppError('INVALID_REQUEST', WRONG_PASSWORD, { [field]: WRONG_PASSWORD })
    },

    /** Of the authenticator, or a backup code. */
    async code(caller: Caller, code: string, request: FastifyRequest): Promise<void> {
      if (!isBackupCode(code)) return this.authenticator(caller, code, request)
      await attempts.countOf(caller)
      const given = { body: { code, disableSession: true }, headers: authHeaders(request), asResponse: true } as const
      if ((await auth.api.verifyBackupCode(given)).ok) return
      await fail(caller, 'code', request)
      throw refusedCode('wrong')
    },

    /** Of the authenticator alone. `then` is done together with using the code up; the person is locked. */
    async authenticator(
      caller: Caller,
      code: string,
      request: FastifyRequest,
      then: (trx: Trx) => Promise<void> = async () => {},
    ): Promise<void> {
      await attempts.countOf(caller)
      const given = { personId: caller.id, code: withoutSpaces(code), openSecret: openSealed(auth) }
      const verdict = await db.transaction().execute(async (trx) => {
        await lockPerson(trx, caller.id)
        const judged = await useCode(trx, given, new Date())
        if (judged === 'right') await then(trx)
        return judged
      })
      if (verdict === 'wrong') await fail(caller, 'code', request)
      if (verdict !== 'right') throw refusedCode(verdict)
    },
  }
}

export const withoutSpaces = (code: string) => code.replaceAll(' ', '')

/** Codes of an authenticator have six digits. */
export const isBackupCode = (code: string) => !/^\d{6}$/.test(withoutSpaces(code))

export function refusedCode(verdict: Exclude<Verdict, 'right'>): AppError {
  const sentences = {
    wrong: 'This code is wrong.',
    used: 'This code was already used. Wait for the next one.',
    locked: 'Too many wrong codes. Try again in 15 minutes.',
    none: 'Two-factor sign-in is not set up: start again.',
  }
  const message = sentences[verdict]
  return verdict === 'locked'
    ? new AppError('RATE_LIMIT_EXCEEDED', message)
    : new AppError('INVALID_REQUEST', message, { code: message })
}
