import { setTimeout as sleep } from 'node:timers/promises'
import { Command, Option } from 'commander'
import type { Db } from '../db/open.ts'
import { OperatorError } from '../errors.ts'
import type { Actor } from '../features/accounts/audit.ts'
import {
  findPostback,
  listPostbacks,
  type Postback,
  type PostbackFilter,
  presentAttempt,
  presentPostback,
  readAttempts,
  type State,
  STATES,
} from '../features/postbacks/postbacks.ts'
import { replayPostback } from '../features/postbacks/replay-postback.ts'
import { cancelReplay, readReplay, type ReplayFilter, startReplay } from '../features/postbacks/replays.ts'
import { readTestSends, SCENARIO_NAMES, startTestSends } from '../features/postbacks/test-sends.ts'
import { withChange, withDatabase } from './context.ts'
import { findAppId, findConversionId } from './find.ts'
import {
  fields,
  noneListed,
  type OutputOptions,
  readId,
  readLimit,
  readOn,
  readTime,
  readUuid,
  show,
  table,
  testOption,
} from './output.ts'
import { failLater } from './terminal.ts'
import { hint, UsageError } from './usage.ts'

const TEST_TIMEOUT_MS = 60_000

type ListOptions = OutputOptions & {
  app?: string
  state?: State
  conversion?: string
  test?: boolean
  before?: string
  limit: string
}

export const postbackCommand = () =>
  new Command('postback')
    .addCommand(
      new Command('list')
        .description('list postbacks, newest first')
        .option('--app <app>', 'only postbacks to this app')
        .addOption(new Option('--state <state>', 'only postbacks in this state').choices(STATES))
        .option('--conversion <id>', 'only postbacks of this conversion')
        .addOption(testOption())
        .option('--before <id>', 'only postbacks before this one')
        .option('--limit <n>', 'maximum number of results', '50')
        .action(async (options: ListOptions) => {
          const limit = readLimit(options.limit)
          const filter: PostbackFilter = { isTest: options.test ?? false }
          if (options.state !== undefined) filter.state = options.state
          if (options.before !== undefined) filter.before = readUuid(options.before, '--before', 'a postback_id')
          const found = await withDatabase(async ({ database: { db } }) => {
            if (options.app !== undefined) filter.appId = await findAppId(db, options.app)
            if (options.conversion !== undefined) filter.conversionId = await findConversionId(db, options.conversion)
            return listPostbacks(db, filter, limit)
          })
          show(options, found.map(presentForOperator), () => {
            const rows = found.map((one) => ({
              postback_id: one.postback_id,
              state: one.state,
              status: one.status,
              attempts: one.attempts,
              app_id: one.app_id,
              last_error: one.last_error,
              last_status: one.last_status,
              next_attempt_at: one.next_attempt_at,
              created_at: one.created_at,
            }))
            const more = readOn(found, limit, (last) => `add --before ${last.postback_id}`)
            return table(rows, noneListed('postbacks', options)) + more
          })
        }),
    )
    .addCommand(
      new Command('show')
        .description('show a postback with every attempt')
        .argument('<id>', 'postback_id')
        .action(async (id: string, options: OutputOptions) => {
          const shown = await withDatabase(({ database: { db } }) => readWhole(db, id))
          show(options, shown, ({ tries, ...postback }) =>
            [fields(postback), ...tries.map(describeAttempt)].join('\n\n'),
          )
        }),
    )
    .addCommand(replayCommand())
    .addCommand(testCommand())

async function readWhole(db: Db, id: string) {
  const postback = await findPostback(db, id, null)
  if (postback === null) throw noSuch(id)
  const attempts = await readAttempts(db, id)
  return { ...presentForOperator(postback), tries: attempts.map(presentAttempt) }
}

/** As the API has it, and whose it is. */
const presentForOperator = (postback: Postback) => ({ app_id: postback.app_id, ...presentPostback(postback) })

type Try = ReturnType<typeof presentAttempt>

function describeAttempt({
  attempt,
  started_at,
  duration_ms,
  ok,
  phase,
  status,
  error,
  request,
  response,
}: Try): string {
  const outcome = ok ? `received, ${status}` : `${error}${phase === null ? '' : ` (in phase ${phase})`}`
  const indent = (text: string) => text.replaceAll('\r\n', '\n').replaceAll(/^/gm, '    ')
  return [
    `Attempt ${attempt}, ${started_at}, ${duration_ms} ms: ${outcome}`,
    indent(request),
    '',
    indent(response),
  ].join('\n')
}

type ReplayOptions = OutputOptions & {
  app?: string
  state?: 'delivered' | 'dead'
  from?: string
  to?: string
  cancel?: string
  status?: string
}

function replayCommand(): Command {
  return new Command('replay')
    .description('resend one postback, or many of an app, with the same webhook-id so that nothing is counted twice')
    .argument('[id]', 'postback_id')
    .option('--app <app>', 'all matching postbacks of this app, after everything else in its queue')
    .addOption(new Option('--state <state>', 'only postbacks in this state').choices(['delivered', 'dead']))
    .option('--from <time>', 'only postbacks created at or after this time')
    .option('--to <time>', 'only postbacks created before this time')
    .option('--status <replay-id>', 'show the progress of a replay')
    .option('--cancel <replay-id>', 'stop a replay; postbacks it has not resent yet stay unchanged')
    .action(async (id: string | undefined, options: ReplayOptions) => {
      const result = await withChange(({ database: { db }, by }) => replay(db, by, id, options))
      show(options, result, fields)
    })
}

async function replay(
  db: Db,
  by: Actor,
  id: string | undefined,
  options: ReplayOptions,
): Promise<Record<string, unknown>> {
  if (options.cancel !== undefined) {
    await cancelReplay(db, by, readId(options.cancel), new Date())
    return readReplay(db, readId(options.cancel))
  }
  if (options.status !== undefined) return readReplay(db, readId(options.status))
  if (id !== undefined) {
    const replayed = await replayPostback(db, by, id, null)
    if (replayed === null) throw noSuch(id)
    return { ...presentPostback(replayed.postback), warning: replayed.warning }
  }
  if (options.app === undefined) throw new UsageError('Give a postback_id, or an app with --app.')
  const filter: ReplayFilter = {}
  if (options.state !== undefined) filter.state = options.state
  if (options.from !== undefined) filter.from = readTime(options.from, '--from').toISOString()
  if (options.to !== undefined) filter.to = readTime(options.to, '--to').toISOString()
  const replayId = await startReplay(db, by, await findAppId(db, options.app), filter)
  return { ...(await readReplay(db, replayId)), next: hint(`postback replay --status ${replayId}`) }
}

function testCommand(): Command {
  return new Command('test')
    .description('send test postbacks to an app and show how its server responds to each')
    .argument('<app>', 'ID or name')
    .addOption(new Option('--only <scenario>', 'send only this test').choices(SCENARIO_NAMES))
    .option('--test', 'sign with the secret of the test key')
    .action(
      async (named: string, options: OutputOptions & { only?: (typeof SCENARIO_NAMES)[number]; test?: boolean }) => {
        const test = await withDatabase(async ({ database: { db }, by }) => {
          const scenarios = options.only === undefined ? SCENARIO_NAMES : [options.only]
          const app = { appId: await findAppId(db, named), isTest: options.test === true }
          return waitForTestSends(db, await startTestSends(db, by, app, scenarios, new Date()))
        })
        show(options, test, () =>
          table(
            test.results.map(({ scenario, result, seen, about }) => ({ scenario, result, seen, about })),
            '',
          ),
        )
        if (test.result !== 'pass') failLater()
      },
    )
}

async function waitForTestSends(db: Db, testId: string) {
  for (const untilMs = Date.now() + TEST_TIMEOUT_MS; ; await sleep(200)) {
    const test = await readTestSends(db, testId, null)
    if (test === null) throw new Error('The test is gone.')
    if (test.result !== 'waiting') return test
    if (Date.now() > untilMs)
      throw new OperatorError(
        'The test postbacks were not sent. Check that a worker is running ("npx offerdeck serve").',
      )
  }
}

const noSuch = (id: string) =>
  new OperatorError(`There is no postback ${id}. List postbacks with: ${hint('postback list')}`)
