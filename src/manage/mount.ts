// The management API: what the dashboard and the operator's own programs use. Every subject by name.
import type { FastifyInstance } from 'fastify'
import { AppError, detailsOf, InvalidInput, OperatorError } from '../errors.ts'
import { findTokenHolder } from '../features/accounts/access-tokens.ts'
import type { Role } from '../features/accounts/people.ts'
import { findAppOwner } from '../features/apps/apps.ts'
import { createSecretHashes } from '../lib/tokens.ts'
import { accountRoutes } from './account/account.ts'
import { emailRoutes } from './account/email.ts'
import { joinRoutes } from './account/join.ts'
import { passwordRoutes } from './account/password.ts'
import { proofRoutes } from './account/proof.ts'
import { searchRoutes } from './account/search/routes.ts'
import { secondFactorRoutes } from './account/second-factor.ts'
import { signInRoutes } from './account/sign-in.ts'
import { signUpRoutes } from './account/sign-up.ts'
import { decisionRoutes } from './advertiser/conversions/decisions.ts'
import { advertiserConversionRoutes } from './advertiser/conversions/routes.ts'
import { advertiserOfferRoutes } from './advertiser/offers/routes.ts'
import { advertiserReportRoutes } from './advertiser/report/routes.ts'
import { advertiserProposalRoutes } from './advertiser/proposals/routes.ts'
import { advertiserTestRoutes } from './advertiser/tester/routes.ts'
import { advertisersRoutes } from './operator/advertisers/routes.ts'
import { appConversionRoutes } from './publisher/conversions/routes.ts'
import { appOfferRoutes } from './publisher/offers/routes.ts'
import { appRoutes } from './publisher/apps/routes.ts'
import { applicationRoutes } from './operator/applications/routes.ts'
import { auditRoutes } from './operator/audit/routes.ts'
import { createAuth, findCaller } from './auth.ts'
import { balanceRoutes } from './publisher/balance/routes.ts'
import { banRoutes } from './operator/bans/routes.ts'
import type { ManageContext } from './context.ts'
import { networkConversionRoutes } from './operator/conversions/routes.ts'
import { feedsRoutes } from './operator/feeds/routes.ts'
import { fraudRoutes } from './operator/fraud/routes.ts'
import { type Caller, guardManage } from './gate.ts'
import { ledgerRoutes } from './operator/ledger/routes.ts'
import { offersRoutes } from './operator/offers/routes.ts'
import { networkReportRoutes } from './operator/reports/routes.ts'
import { proposalRoutes } from './operator/proposals/routes.ts'
import { permissionRoutes } from './operator/permissions/routes.ts'
import { postbackHealthRoutes } from './operator/postback-health/routes.ts'
import { postbacksRoutes } from './publisher/postbacks/routes.ts'
import { publisherRoutes } from './operator/publishers/routes.ts'
import { reportsRoutes } from './publisher/reports/routes.ts'
import { requestRoutes } from './publisher/requests/routes.ts'
import { rewardRoutes } from './publisher/rewards/routes.ts'
import { appUserRoutes } from './publisher/users/routes.ts'
import { createRoutes } from './route.ts'
import { lockersRoutes } from './publisher/lockers/routes.ts'
import { reportedLinkRoutes } from './operator/lockers/routes.ts'
import { appTicketRoutes } from './publisher/wall/tickets.ts'
import { wallSettingsRoutes } from './publisher/wall/routes.ts'
import { systemRoutes } from './operator/system/routes.ts'
import { teamRoutes } from './account/team/routes.ts'

const MANAGE_PREFIX = '/manage/v1'

const SUBJECTS = [
  signInRoutes,
  joinRoutes,
  signUpRoutes,
  passwordRoutes,
  accountRoutes,
  secondFactorRoutes,
  proofRoutes,
  emailRoutes,
  teamRoutes,
  searchRoutes,
  // A publisher's own.
  appRoutes,
  rewardRoutes,
  postbacksRoutes,
  appOfferRoutes,
  wallSettingsRoutes,
  lockersRoutes,
  appTicketRoutes,
  appConversionRoutes,
  appUserRoutes,
  requestRoutes,
  reportsRoutes,
  balanceRoutes,
  // An advertiser's own.
  advertiserReportRoutes,
  advertiserOfferRoutes,
  advertiserProposalRoutes,
  advertiserConversionRoutes,
  decisionRoutes,
  advertiserTestRoutes,
  // The operator's.
  networkReportRoutes,
  offersRoutes,
  proposalRoutes,
  advertisersRoutes,
  feedsRoutes,
  publisherRoutes,
  applicationRoutes,
  permissionRoutes,
  banRoutes,
  reportedLinkRoutes,
  networkConversionRoutes,
  fraudRoutes,
  postbackHealthRoutes,
  ledgerRoutes,
  auditRoutes,
  systemRoutes,
]

export async function mountManage(server: FastifyInstance, given: Omit<ManageContext, 'auth'>): Promise<void> {
  const { db, secretKey, limiter, config, replica } = given
  const { publicUrl } = config
  const auth = createAuth({ db, secretKey, publicUrl })
  const hashToken = createSecretHashes(secretKey)
  server.decorateRequest('caller', null)
  server.decorateRequest('managedApp', null)
  server.decorateRequest('managedPublisherId', null)
  await server.register(
    async (manage) => {
      guardManage(manage, {
        publicUrl,
        limiter,
        requireSecondFactor: config.require2fa,
        findBySession: (request) => findCaller(auth, request),
        findByToken: async (token) => callerOf(await findTokenHolder(db, hashToken(token), new Date())),
        findApp: (appId) => findAppOwner(db, appId),
      })
      const { errorHandler } = manage
      // What the command line says to an operator, a person hears the same way.
      manage.setErrorHandler((error, request, reply) =>
        errorHandler((error instanceof OperatorError ? asInvalid(error) : error) as never, request, reply),
      )
      const routes = createRoutes(manage, replica)
      const context = { ...given, db: replica?.db ?? db, auth }
      for (const addOperations of SUBJECTS) addOperations(routes, context)
    },
    { prefix: MANAGE_PREFIX },
  )
}

function callerOf(holder: Awaited<ReturnType<typeof findTokenHolder>>): Caller | null {
  if (holder === null) return null
  const { id, name, email, role, publisher_id, advertiser_id, token_id, token_name, scopes, mayComeFrom } = holder
  return {
    id,
    name,
    email,
    role: role as Role,
    publisherId: publisher_id,
    advertiserId: advertiser_id,
    hasSecondFactor: holder.two_factor_enabled,
    session: null,
    token: { id: token_id, name: token_name, scopes, mayComeFrom },
    renewed: [],
  }
}

function asInvalid(error: OperatorError): AppError {
  const { message, field } = error
  if (!(error instanceof InvalidInput))
    return new AppError('INVALID_REQUEST', message, field === null ? null : { [field]: message })
  return new AppError('INVALID_REQUEST', message.replaceAll('\n', ' '), detailsOf(error.problems))
}
