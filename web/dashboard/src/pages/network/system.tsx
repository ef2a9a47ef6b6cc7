// How the program is: versions, what waits, what it stands on, how it is set.
import { Alert, SimpleGrid, Stack } from '@mantine/core'
import type { Schemas } from '../../lib/api-types.ts'
import { formatAgo, formatBytes, formatCount, formatUpTo } from '../../lib/format.ts'
import { useGet } from '../../lib/queries.ts'
import { Loaded, Page } from '../../parts/page.tsx'
import { Section } from '../../parts/section.tsx'
import { Fact } from '../../parts/system/fact.tsx'
import { LogoSection } from '../../parts/system/logo.tsx'
import { FailedMails, Nodes, Partitions, Settings } from '../../parts/system/tables.tsx'
import { Time } from '../../parts/time.tsx'

const EVERY_MS = 10_000
const LATE_MS = 60_000
const CLOCK_MS = 2_000
const COLUMNS = { base: 2, md: 3, xl: 4 }

type Shown = Schemas['System']

export default function SystemPage() {
  const system = useGet('/system', { everyMs: EVERY_MS })
  return (
    <Page title="System" about="System status, refreshed every ten seconds.">
      <Loaded query={system}>{(shown) => <Facts {...shown} />}</Loaded>
    </Page>
  )
}

/** What needs an operator. */
function warningsOf({ queues, database, replica, backups, partitions, nodes, export: exported }: Shown): string[] {
  const warnings: string[] = []
  const here = nodes.filter(({ is_here }) => is_here)
  if (!here.some(({ part }) => part === 'worker'))
    warnings.push('No worker is running: postbacks are not sent and holds are not released. Start a worker.')
  if (here.length < nodes.length)
    warnings.push('A process stopped without shutting down cleanly. Check its log and start it again.')
  if (new Set(here.map(({ version }) => version)).size > 1)
    warnings.push('Processes run different versions of Offerdeck. Finish the upgrade.')
  const { oldest_due_at, spool_files } = queues
  if (oldest_due_at !== null && Date.now() - Date.parse(oldest_due_at) > LATE_MS)
    warnings.push('Postbacks are overdue. Check that a worker is running, and see Postback health.')
  if (spool_files > 0)
    warnings.push('Some writes could not reach the database. They are spooled on disk and retried automatically.')
  if (Math.abs(database.clock_ahead_ms) > CLOCK_MS)
    warnings.push('The clocks of this machine and the database differ. Run a time service such as chrony on both.')
  if (database.connections > 0.9 * database.max_connections)
    warnings.push('The database is running out of connections. Raise max_connections or run fewer processes.')
  if (replica !== null && !replica.is_used)
    warnings.push(
      'The replica is down or behind, so the dashboard reads from the primary. Check that the replica is running and replicating.',
    )
  if (backups?.is_late)
    warnings.push('The last backup is too old. Look for "making backups failed" in the worker’s log.')
  for (const { kind, failure, lost_rows } of exported?.kinds ?? []) {
    if (failure !== null)
      warnings.push(
        `Exporting ${nameOfKind(kind)} fails: ${failure}. It continues where it stopped once this is fixed.`,
      )
    if (lost_rows > 0)
      warnings.push(`${formatCount(lost_rows)} ${nameOfKind(kind)} were deleted before they were exported.`)
  }
  const today = new Date().toISOString().slice(0, 10)
  if (partitions.some(({ newest_day }) => newest_day === null || newest_day <= today))
    warnings.push('Partitions for tomorrow are missing. They are created hourly: check the server log.')
  return warnings
}

const nameOfKind = (kind: string) => kind.replaceAll('_', ' ')

function describeLag(lag_seconds: number | null): string {
  if (lag_seconds === null) return 'Down'
  return lag_seconds < 1 ? 'Up to date' : `${Math.round(lag_seconds)} s behind`
}

function Facts(shown: Shown) {
  const { version, node, database, replica, backups, queues, partitions, nodes, rate_limits, has_mail, logo } = shown
  const { failed_mails, settings, export: exported } = shown
  return (
    <Stack gap="lg">
      {warningsOf(shown).map((warning) => (
        <Alert key={warning} color="yellow" role="alert">
          {warning}
        </Alert>
      ))}
      <SimpleGrid cols={COLUMNS}>
        <Fact name="Offerdeck">{version}</Fact>
        <Fact name="Node.js" about={<Started at={node.started_at} />}>
          {node.version}
        </Fact>
        <Fact name="Memory" about="This process">
          {formatBytes(node.memory_bytes)}
        </Fact>
        <Fact name="PostgreSQL" about={database.is_embedded ? 'Embedded' : 'Set by DATABASE_URL'}>
          {database.version}
        </Fact>
        {replica !== null && (
          <Fact name="Replica" about={replica.is_used ? 'The dashboard reads from it' : 'Not used'}>
            {describeLag(replica.lag_seconds)}
          </Fact>
        )}
        {exported?.kinds.map(({ kind, rows, caught_up_at }) => (
          <Fact key={kind} name={`Exported ${nameOfKind(kind)}`} about={<Reached at={caught_up_at} />}>
            {formatCount(rows)}
          </Fact>
        ))}
        <Fact name="Database" about="On disk">
          {formatBytes(database.bytes)}
        </Fact>
        {database.is_embedded && (
          <Fact
            name="Backup"
            about={
              backups === null
                ? 'Set BACKUP_DIR to enable backups'
                : backups.last_bytes === null
                  ? 'The first one is being created'
                  : formatBytes(backups.last_bytes)
            }
          >
            {backups === null ? 'Off' : backups.last_at === null ? 'None yet' : formatAgo(backups.last_at)}
          </Fact>
        )}
        <Fact name="Connections" about={`Of ${formatCount(database.max_connections)}`}>
          {formatCount(database.connections)}
        </Fact>
        <Fact name="Rate limits" about={rate_limits === 'redis' ? 'Shared by all processes' : 'Counted per process'}>
          {rate_limits === 'redis' ? 'Redis' : 'Memory'}
        </Fact>
        <Fact name="Mail" about={has_mail ? 'Set by SMTP_URL' : 'Set SMTP_URL to send links and notices'}>
          {has_mail ? 'On' : 'Off'}
        </Fact>
      </SimpleGrid>
      <Section title="Queues">
        <SimpleGrid cols={COLUMNS}>
          <Fact name="Postbacks queued" about={`${formatUpTo(queues.postbacks_sending)} being sent`}>
            {formatUpTo(queues.postbacks_queued)}
          </Fact>
          <Fact
            name="Postbacks due"
            about={
              queues.oldest_due_at === null ? (
                'None overdue'
              ) : (
                <>
                  Oldest: <Time at={queues.oldest_due_at} ago />
                </>
              )
            }
          >
            {formatUpTo(queues.postbacks_due)}
          </Fact>
          <Fact name="Events" about="Not in the feed yet">
            {formatUpTo(queues.waiting_events)}
          </Fact>
          <Fact name="Unmatched callbacks" about="From advertisers, retried for three days">
            {formatUpTo(queues.unmatched_calls)}
          </Fact>
          {has_mail && (
            <Fact name="Emails queued" about="Retried until they expire">
              {formatUpTo(queues.mails_queued)}
            </Fact>
          )}
          <Fact name="Spool files" about={`On this machine, ${formatBytes(queues.spool_bytes)}`}>
            {formatCount(queues.spool_files)}
          </Fact>
        </SimpleGrid>
      </Section>
      {failed_mails.length > 0 && (
        <Section
          title="Failed emails"
          about="The latest emails that were refused or not accepted in time. They are not retried."
        >
          <FailedMails mails={failed_mails} />
        </Section>
      )}
      <LogoSection logo={logo} />
      <Section title="Nodes" about="Processes that use this database, on all machines. One process can run both parts.">
        <Nodes nodes={nodes} />
      </Section>
      <Section title="Partitions" about="One table per day. Old ones are dropped after RETENTION_DAYS.">
        <Partitions partitions={partitions} />
      </Section>
      <Section title="Settings" about="In effect in this process. Secrets only show whether they are set.">
        <Settings settings={settings} />
      </Section>
    </Stack>
  )
}

function Reached({ at }: { at: string | null }) {
  return at === null ? (
    'Catching up'
  ) : (
    <>
      Up to <Time at={at} ago />
    </>
  )
}

function Started({ at }: { at: string }) {
  return (
    <>
      Started <Time at={at} ago />
    </>
  )
}
