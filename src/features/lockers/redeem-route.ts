import type { FastifyInstance } from 'fastify'
import type { Db } from '../../db/open.ts'
import { AppError } from '../../errors.ts'
import { sendJson, successJson } from '../../http/envelope.ts'
import type { Gate } from '../../http/gate.ts'
import { errorReplies, successReply } from '../../http/openapi.ts'
import { rfc3339 } from '../../lib/time.ts'
import type { AppCredential } from '../apps/credentials.ts'
import { readSigningSecrets, signingKeyOf } from '../apps/signing-secrets.ts'
import { refusalOf } from './admission.ts'
import { findLocker } from './lockers.ts'
import { readProof, redeemProof } from './proofs.ts'
import { LockerParams, RedeemBody, Redeemed } from './schema.ts'
import { userOf } from './visitors.ts'

export type RedeemRouteOptions = {
  gate: Gate<AppCredential>
  db: Db
  secretKey: string
  isBanned: (credential: AppCredential, userId: string) => boolean
}

export function redeemRoute(server: FastifyInstance, { gate, db, secretKey, isBanned }: RedeemRouteOptions): void {
  server.post<{ Params: { locker_id: string }; Body: { proof: string } }>(
    '/lockers/:locker_id/redeem',
    {
      attachValidation: true, // so that another app’s locker is not there, whatever is sent to it
      schema: {
        operationId: 'redeemProof',
        summary: 'Redeem the proof of a visitor who unlocked content',
        description:
          'Call this before you deliver the content. A proof is valid for ten minutes and counts once: `redeemed` is true the first time only.',
        tags: ['Lockers'],
        params: LockerParams,
        body: RedeemBody,
        response: { 200: successReply(Redeemed), ...errorReplies(400, 401, 404, 429, 500) },
      },
    },
    async (request, reply) => {
      const caller = gate.callerOf(request)
      const { appId, isTest } = caller
      const lockerId = Number(request.params.locker_id)
      const locker = Number.isSafeInteger(lockerId) ? await findLocker(db, { lockerId }) : null
      if (locker === null || locker.appId !== appId || locker.kind !== 'content')
        throw new AppError('RESOURCE_NOT_FOUND', 'There is no such content locker.', { locker_id: 'No content locker of your app has this ID.' }) // prettier-ignore
      if (request.validationError) throw request.validationError
      if (locker.isTakenDown) throw refusalOf('taken_down')
      const secrets = (await readSigningSecrets(db, secretKey, [appId])).get(signingKeyOf(appId, isTest)) ?? []
      const proof = readProof(secrets, request.body.proof)
      if (proof === null)
        throw refused(
          'This is not a proof of your app. If its signing secret was replaced, load the page again for a new one.',
        )
      if (proof.lockerId !== lockerId) throw refused('This is not a proof of this locker.')
      if (isBanned(caller, userOf({ appId, isTest, visitorId: proof.visitorId }).userId))
        throw refused('This visitor is banned. Deliver nothing.')
      const redeemed = await redeemProof(db, proof, isTest)
      if (redeemed === null && proof.expiresAtS * 1000 <= Date.now())
        throw refused('This proof has expired. Load the page again for a new one.')
      if (redeemed === null) throw refused('This is not a proof of this locker.')
      const { isFirst, redeemedAt } = redeemed
      const data = { redeemed: isFirst, locker_id: lockerId, visitor_id: proof.visitorId, redeemed_at: rfc3339(redeemedAt) } // prettier-ignore
      const message = isFirst ? 'Proof redeemed successfully' : 'This proof is already redeemed'
      sendJson(request, reply, 200, successJson(request, data, message))
      return reply
    },
  )
}

const refused = (message: string) => new AppError('INVALID_REQUEST', message, { proof: message })
