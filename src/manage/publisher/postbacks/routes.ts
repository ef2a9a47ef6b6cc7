// An app's postbacks, for people: settings, test sends, the log, and resending.
import type { ManageContext } from '../../context.ts'
import type { ManageRoutes } from '../../route.ts'
import { logRoutes } from './log.ts'
import { replayRoutes } from './replays.ts'
import { settingsRoutes } from './settings.ts'
import { testSendRoutes } from './test-sends.ts'

export function postbacksRoutes(routes: ManageRoutes, context: ManageContext): void {
  settingsRoutes(routes, context)
  testSendRoutes(routes, context)
  logRoutes(routes, context)
  replayRoutes(routes, context)
}
