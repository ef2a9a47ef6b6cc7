// The command line: every command by name, and how a failure is told.
import { Command, CommanderError } from 'commander'
import { isAway } from '../db/faults.ts'
import { messageOf, OperatorError } from '../errors.ts'
import { VERSION } from '../lib/version.ts'
import { advertiserCommand } from './advertiser.ts'
import { appCommand } from './app.ts'
import { banCommand } from './ban.ts'
import { clickCommand } from './click.ts'
import { configCommand } from './config.ts'
import { conversionCommand } from './conversion.ts'
import { noteCommand } from './deed.ts'
import { doctorCommand } from './doctor.ts'
import { fraudCommand } from './fraud.ts'
import { inboundCommand } from './inbound.ts'
import { ledgerCommand } from './ledger.ts'
import { listenCommand } from './listen.ts'
import { migrateCommand } from './migrate.ts'
import { noticeCommand } from './notice.ts'
import { offerCommand } from './offer.ts'
import { postbackCommand } from './postback.ts'
import { publisherCommand } from './publisher.ts'
import { seedCommand } from './seed.ts'
import { serveCommand } from './serve.ts'
import { userCommand } from './user.ts'

const program = new Command('offerdeck')
  .version(VERSION)
  .description('A self-hosted offers network. Settings come from the environment: see docs/configuration.md.')

for (const command of [
  serveCommand(),
  migrateCommand(),
  seedCommand(),
  configCommand(),
  doctorCommand(),
  userCommand(),
  publisherCommand(),
  appCommand(),
  advertiserCommand(),
  offerCommand(),
  clickCommand(),
  conversionCommand(),
  inboundCommand(),
  postbackCommand(),
  noticeCommand(),
  listenCommand(),
  ledgerCommand(),
  fraudCommand(),
  banCommand(),
]) {
  program.addCommand(command)
}

/** Every command can print JSON, so that scripts need not read tables, and says how to go on after a mistake. */
function complete(command: Command): void {
  command.exitOverride().showHelpAfterError('(add --help to see what this command takes)')
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
  if (error instanceof OperatorError || error instanceof CommanderError) return error.message
  if (isAway(error)) {
    return `The database does not answer (${messageOf(error)}). Check that it runs and that DATABASE_URL is right; "offerdeck doctor" looks closer.`
  }
  if (/^(EACCES|EROFS|EPERM|ENOSPC|EDQUOT)$/.test((error as NodeJS.ErrnoException).code ?? '')) {
    return `${messageOf(error)}. Give this user room and the right to write there, or set DATA_DIR to another folder.`
  }
  return `This should not have happened:\n${error instanceof Error ? error.stack : String(error)}`
}
