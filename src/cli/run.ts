// The command line: every command by name, and how a failure is reported.
import { Command, CommanderError } from 'commander'
import { isUnavailable } from '../db/pg-errors.ts'
import { AppError, messageOf, OperatorError } from '../errors.ts'
import { VERSION } from '../lib/version.ts'
import { noteCommand } from './audit.ts'
import { terminal } from './terminal.ts'

/** In the order of the help. Only the one that is asked for is loaded: all of them take a second. */
export const COMMANDS: Record<string, () => Promise<Command>> = {
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
/** Returns the status to end with. */
export async function runCommand(args: readonly string[]): Promise<number> {
  const [asked = ''] = args
  const program = new Command('offerdeck')
    .version(VERSION)
    .description('A self-hosted offers network. Settings come from the environment: see docs/configuration.md.')
  for (const name of Object.hasOwn(COMMANDS, asked) ? [asked] : Object.keys(COMMANDS))
    program.addCommand(await COMMANDS[name]!())
  complete(program)
  program.hook('preAction', (_program, command) => noteCommand(command))
  try {
    await program.parseAsync(args, { from: 'user' })
    return terminal().status
  } catch (error) {
    return reportFailure(error, args.includes('--json'))
  }
}

/** Every command can print JSON, so that scripts need not read tables, and says how to go on after a mistake. */
function complete(command: Command): void {
  command.exitOverride().showHelpAfterError('(add --help to see how to use this command)')
  const { out, err } = terminal()
  command.configureOutput({ writeOut: (text) => void out.write(text), writeErr: (text) => void err.write(text) })
  for (const child of command.commands) complete(child)
  if (command.commands.length === 0) command.option('--json', 'print the result as JSON')
}

function reportFailure(error: unknown, json: boolean): number {
  // Commander has reported it already; asking for help is no failure.
  const isReported = error instanceof CommanderError
  const status = isReported ? error.exitCode : 1
  if (status === 0) return 0
  const message = explain(error)
  const { out, err } = terminal()
  if (json) out.write(`${JSON.stringify({ error: message })}\n`)
  if (!isReported) err.write(`${message}\n`)
  return status
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
