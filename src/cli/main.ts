// The command line: every command by name, and how a failure is told.
import { Command, CommanderError } from 'commander'
import { OperatorError } from '../errors.ts'
import { advertiserCommand } from './advertiser.ts'
import { appCommand } from './app.ts'
import { configCommand } from './config.ts'
import { doctorCommand } from './doctor.ts'
import { migrateCommand } from './migrate.ts'
import { offerCommand } from './offer.ts'
import { publisherCommand } from './publisher.ts'
import { seedCommand } from './seed.ts'
import { serveCommand } from './serve.ts'

const program = new Command('offerdeck')
  .description('A self-hosted offers network. Settings come from the environment: see docs/configuration.md.')
  .showHelpAfterError('(add --help to see what this command takes)')

for (const command of [
  serveCommand(),
  migrateCommand(),
  seedCommand(),
  configCommand(),
  doctorCommand(),
  publisherCommand(),
  appCommand(),
  advertiserCommand(),
  offerCommand(),
]) {
  program.addCommand(command)
}

/** Every command can print JSON, so that scripts need not read tables. */
function offerJson(command: Command): void {
  for (const child of command.commands) offerJson(child)
  if (command.commands.length === 0) command.option('--json', 'print the result as JSON')
}
offerJson(program)

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0) // whoever read us, such as "head", has seen enough
  throw error
})

try {
  await program.parseAsync()
} catch (error) {
  const isExpected = error instanceof OperatorError || error instanceof CommanderError
  const message = isExpected
    ? error.message
    : `This should not have happened:\n${error instanceof Error ? error.stack : String(error)}`
  if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify({ error: message })}\n`)
  process.stderr.write(`${message}\n`)
  process.exitCode = 1
}
