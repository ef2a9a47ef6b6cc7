// System status, for the operator.
import { readDatabase, readPartitions, readSpool } from '../../../db/diagnostics.ts'
import { readSchedule } from '../../../db/backup/schedule.ts'
import { readNodes } from '../../../db/nodes.ts'
import { countQueuedMails, listFailedMails } from '../../../features/accounts/mails.ts'
import { openTarget } from '../../../features/exports/open-target.ts'
import { readExports } from '../../../features/exports/status.ts'
import { findLogo, setLogo } from '../../../features/offers/logo.ts'
import { readQueues } from '../../../features/reports/queues.ts'
import { VERSION } from '../../../lib/project.ts'
import type { ManageContext } from '../../context.ts'
import type { ManageRoutes } from '../../route.ts'
import { OK, Ok } from '../../shapes.ts'
import { NewLogo, System } from './schema.ts'
import { presentSettings } from './settings.ts'

const FAILED_MAILS = 20

export function systemRoutes(routes: ManageRoutes, { db, config, replica, sendMails }: ManageContext): void {
  const exportTarget = openTarget(config)?.url ?? null

  routes.get('/system', {
    id: 'getSystem',
    summary: 'Get system status',
    about: 'Versions, queues, database, nodes and settings in force.',
    tag: 'System',
    access: 'operator',
    reply: System,
    async run() {
      const now = new Date()
      return {
        version: VERSION,
        node: {
          version: process.versions.node,
          started_at: new Date(now.getTime() - process.uptime() * 1000),
          memory_bytes: process.memoryUsage.rss(),
        },
        database: { ...(await readDatabase(db)), is_embedded: config.databaseUrl === null },
        replica: replica === null ? null : { lag_seconds: replica.lagSeconds, is_used: replica.isUsed },
        backups: readSchedule(config, now),
        queues: {
          ...(await readQueues(db)),
          mails_queued: await countQueuedMails(db),
          ...(await readSpool(config.dataDir)),
        },
        export: exportTarget === null ? null : { target: exportTarget, kinds: await readExports(db, exportTarget) },
        partitions: await readPartitions(db),
        nodes: await readNodes(db, new Date()),
        rate_limits: config.redisUrl === null ? ('memory' as const) : ('redis' as const),
        has_mail: sendMails !== null,
        logo: await findLogo(db),
        failed_mails: await listFailedMails(db, FAILED_MAILS),
        settings: presentSettings(config),
      }
    },
  })

  routes.put('/system/logo', {
    id: 'setLogo',
    summary: 'Set the logo',
    about: "Shows an uploaded image as the network's logo in the dashboard and on its sign-in pages.",
    tag: 'System',
    access: 'operator',
    body: NewLogo,
    reply: Ok,
    async run({ by, body }) {
      await setLogo(db, by, body.path)
      return OK
    },
  })
}
