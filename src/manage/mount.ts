// The management API: what the dashboard and the operator's own programs use.
import type { FastifyInstance } from 'fastify'
import { AppError, OperatorError } from '../errors.ts'
import { guardManage, type ManageGateOptions } from './gate.ts'
import { createRoutes, type ManageRoutes } from './route.ts'

export const MANAGE_PREFIX = '/manage/v1'

export async function mountManage(
  server: FastifyInstance,
  gate: ManageGateOptions,
  mount: (routes: ManageRoutes) => void,
): Promise<void> {
  server.decorateRequest('caller', null)
  server.decorateRequest('managedApp', null)
  server.decorateRequest('managedPublisherId', null)
  await server.register(
    async (manage) => {
      guardManage(manage, gate)
      const { errorHandler } = manage
      // What the command line says to an operator, a person hears the same way.
      manage.setErrorHandler((error, request, reply) =>
        errorHandler(
          error instanceof OperatorError ? (new AppError('INVALID_REQUEST', error.message) as never) : (error as never),
          request,
          reply,
        ),
      )
      mount(createRoutes(manage))
    },
    { prefix: MANAGE_PREFIX },
  )
}
