// The command line: every command by name, and how a failure is told.
import { Command, CommanderError } from 'commander'
import { isUnavailable } from '../db/pg-errors.ts'
import { AppError, messageOf, OperatorError } from '../errors.ts'
import { VERSION } from '../lib/version.ts'
import { noteCommand } from './audit.ts'

const program = new Command('offerdeck')
  .version(VERSION)
  .description('A self-hosted offers network. Settings come from the environment: see docs/configuration.md.')

/** In the order of the help. Only the one that is asked for is loaded: all of them take a second. */
const COMMANDS: Record<string, () => Promise<Command>> = {
  serve: async () => (await import('./serve.ts')).serveCommand(),
  migrate: async () => (await import('./migrate.ts')).migrateCommand(),
  seed: async () => (await import('./seed.ts')).seedCommand(),
  config: async () => (await import('./config.ts')).configCommand(),
  doctor: async () => (await import('./doctor.ts')).doctorCommand(),
  'secret-key': async () => (await import('./secret-key.ts')).secretKeyCommand(),
  user: async () => (await import('./user.ts')).userCommand(),
  publisher: async () => (await import('./publisher.ts')).publisherCommand(),
  app: async () => (await import('./app.ts')).appCommand(),
  advertiser: async () => (await import('./advertiser.ts')).advertiserCommand(),
  offer: async () => (await import('./offer.ts')).offerCommand(),
  click: async () => (await import('./click.ts')).clickCommand(),
  conversion: async () => (await import('./conversion.ts')).conversionCommand(),
  inbound: async () => (await import('./inbound.ts')).inboundCommand(),
  postback: async () => (await import('./postback.ts')).postbackCommand(),
  notice: async () => (await import('./notice.ts')).noticeCommand(),
  listen: async () => (await import('./listen.ts')).listenCommand(),
  ledger: async () => (await import('./ledger.ts')).ledgerCommand(),
  fraud: async () => (await import('./fraud.ts')).fraudCommand(),
  ban: async () => (await import('./ban.ts')).banCommand(),
}
const [asked = ''] = process.argv.slice(2)
for (const name of Object.hasOwn(COMMANDS, asked) ? [asked] : Object.keys(COMMANDS))
  program.addCommand(await COMMANDS[name]!())

/** Every command can print JSON, so that scripts need not read tables, and says how to go on after a mistake. */
function complete(command: Command): void {
  command.exitOverride().showHelpAfterError('(add --help to see how to use this command)')
  for (const child of command.commands) complete(child)
  if (command.commands.length === 0) command.option('--json', 'print the result as JSON')
}
complete(program)
program.hook('preAction', (_program, command) => noteCommand(command))

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0) // whoever read us, such as "head", has seen enough
  throw error
})

try {
  await program.parseAsync()
} catch (error) {
  tellFailure(error)
}

function tellFailure(error: unknown): void {
  // Commander has told it already; asking for help is no failure.
  const isTold = error instanceof CommanderError
  process.exitCode = isTold ? error.exitCode : 1
  if (process.exitCode === 0) return
  const message = explain(error)
  if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify({ error: message })}\n`)
  if (!isTold) process.stderr.write(`${message}\n`)
}

function explain(error: unknown): string {
  if (error instanceof OperatorError || error instanceof AppError || error instanceof CommanderError)
    return error.message
  if (isUnavailable(error)) {
    return `The database does not answer (${messageOf(error)}). Check that it is running and that DATABASE_URL is correct, or run "offerdeck doctor" to find out more.`
  }
  if (/^(EACCES|EROFS|EPERM|ENOSPC|EDQUOT)$/.test((error as NodeJS.ErrnoException).code ?? '')) {
    return `${messageOf(error)}. Free up space and check that this user can write there, or set DATA_DIR to another folder.`
  }
  return `Unexpected error:\n${error instanceof Error ? error.stack : String(error)}`
}
