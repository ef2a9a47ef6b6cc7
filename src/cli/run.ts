// The command line: every command by name, and how a failure is reported.
import { type Argument, Command, CommanderError, type Option } from 'commander'
import { isUnavailable } from '../db/pg-errors.ts'
import { AppError, messageOf, OperatorError } from '../errors.ts'
import { VERSION } from '../lib/project.ts'
import { hintFor } from './hints.ts'
import { terminal } from './terminal.ts'
import { hint, USAGE_STATUS, UsageError } from './usage.ts'

const WIDTH = 100

type Lazy = { about: string; load: () => Promise<Command>; isGroup: boolean }
const single = (about: string, load: Lazy['load']): Lazy => ({ about, load, isGroup: false })
const group = (about: string, load: Lazy['load']): Lazy => ({ about, load, isGroup: true })

/** In the order of the help. Only the one that is asked for is loaded; for the overview, none. */
export const COMMANDS: Record<string, Lazy> = {
  serve: single('run the server', async () => (await import('./serve.ts')).serveCommand()),
  migrate: single('migrate the database to this version', async () => (await import('./migrate.ts')).migrateCommand()),
  seed: single('fill the catalog with sample offers', async () => (await import('./seed.ts')).seedCommand()),
  config: single('print the current settings, with secrets masked', async () =>
    (await import('./config.ts')).configCommand(),
  ),
  doctor: single(
    'check the database, secret key, Redis, clock, TLS, network and folders, and suggest fixes',
    async () => (await import('./doctor.ts')).doctorCommand(),
  ),
  backup: group('backups of the embedded database', async () => (await import('./backup.ts')).backupCommand()),
  restore: single('restore a backup into an empty data folder', async () =>
    (await import('./restore.ts')).restoreCommand(),
  ),
  'secret-key': group('replace SECRET_KEY', async () => (await import('./secret-key.ts')).secretKeyCommand()),
  user: group("dashboard accounts, and the data of apps' users", async () => (await import('./user.ts')).userCommand()),
  publisher: group('publishers: companies that show offers to their users', async () =>
    (await import('./publisher.ts')).publisherCommand(),
  ),
  app: group("apps: a publisher's integrations, with their credentials", async () =>
    (await import('./app.ts')).appCommand(),
  ),
  advertiser: group('advertisers: companies that own offers and confirm conversions', async () =>
    (await import('./advertiser.ts')).advertiserCommand(),
  ),
  offer: group('offers: what users can complete', async () => (await import('./offer.ts')).offerCommand()),
  feed: group('feeds: offers from other networks, fetched on a schedule', async () =>
    (await import('./feed.ts')).feedCommand(),
  ),
  rate: group('exchange rates of currencies other than US dollars', async () =>
    (await import('./rate.ts')).rateCommand(),
  ),
  locker: group('lockers: content and links that open for completed offers', async () =>
    (await import('./locker.ts')).lockerCommand(),
  ),
  click: group('clicks: users who followed a link', async () => (await import('./click.ts')).clickCommand()),
  conversion: group('conversions: completed offers and their status', async () =>
    (await import('./conversion.ts')).conversionCommand(),
  ),
  inbound: group('callbacks from advertisers: what they sent and the outcome', async () =>
    (await import('./inbound.ts')).inboundCommand(),
  ),
  postback: group('postbacks sent to publishers, and their deliveries', async () =>
    (await import('./postback.ts')).postbackCommand(),
  ),
  find: single('find everything that a request led to: clicks, callbacks, conversions, postbacks', async () =>
    (await import('./trail.ts')).findCommand(),
  ),
  notice: group('notices to publishers, such as paused postbacks', async () =>
    (await import('./notice.ts')).noticeCommand(),
  ),
  listen: single('receive postbacks on this machine and print them', async () =>
    (await import('./listen.ts')).listenCommand(),
  ),
  ledger: group('the ledger: who owes what to whom', async () => (await import('./ledger.ts')).ledgerCommand()),
  export: group('exports of clicks and conversions for a warehouse', async () =>
    (await import('./export.ts')).exportCommand(),
  ),
  fraud: group('fraud rules: which signals to look for, and what to do about them', async () =>
    (await import('./fraud.ts')).fraudCommand(),
  ),
  ban: group('bans: banned users see no offers, and their conversions are rejected', async () =>
    (await import('./ban.ts')).banCommand(),
  ),
}

/** Returns the status to end with. */
export async function runCommand(args: readonly string[]): Promise<number> {
  const program = new Command('offerdeck')
    .version(VERSION)
    .description('A self-hosted offers network. Settings come from the environment: see docs/configuration.md.')
  const asked = args.find((word) => !word.startsWith('-') && word !== 'help') ?? ''
  const isKnown = Object.hasOwn(COMMANDS, asked)
  for (const name of isKnown ? [asked] : Object.keys(COMMANDS))
    program.addCommand(isKnown ? await loadCommand(name) : announceCommand(name))
  complete(program)
  let running = findCommand(program, args)
  program.hook('preAction', (_program, command) => {
    running = command
    terminal().isWide = command.opts<{ wide?: boolean }>().wide === true
    terminal().command = command
  })
  try {
    await program.parseAsync(args, { from: 'user' })
    return terminal().status
  } catch (error) {
    return reportFailure(error, running, args.includes('--json'))
  }
}

export async function loadCommand(name: string): Promise<Command> {
  const { about, load } = COMMANDS[name]!
  return (await load()).description(about)
}

/** As the overview shows it. */
function announceCommand(name: string): Command {
  const { about, isGroup } = COMMANDS[name]!
  const command = new Command(name).description(about)
  return isGroup ? command.addCommand(new Command('list')) : command
}

/** The command that is meant, as far as its name was understood. */
function findCommand(program: Command, args: readonly string[]): Command {
  const [name, ...rest] = args
  const child = program.commands.find((one) => one.name() === name)
  return child === undefined ? program : findCommand(child, rest)
}

/** Every command can print JSON, so that scripts need not read tables; those that list can print all columns. */
function complete(command: Command): void {
  const { out, err } = terminal()
  command
    .exitOverride()
    .configureHelp({ helpWidth: WIDTH, optionDescription: describeOption, argumentDescription: describeArgument })
    .configureOutput({
      writeOut: (text) => void out.write(text),
      writeErr: (text) => void err.write(text),
      outputError: () => {}, // reportFailure does
    })
  for (const child of command.commands) complete(child)
  if (command.commands.length > 0) return
  if (LISTING.includes(command.name())) command.option('--wide', 'print all columns in full')
  command.option('--json', 'print the result as JSON')
}

/** Commands that print tables. */
const LISTING = ['list', 'show', 'find', 'config', 'reprocess', 'pay', 'test']

function describeOption(option: Option): string {
  const notes = [
    ...(option.mandatory ? ['required'] : []),
    ...(option.argChoices === undefined ? [] : [`choices: ${option.argChoices.join(', ')}`]),
    ...(isShownDefault(option) ? [`default: ${String(option.defaultValue)}`] : []),
  ]
  return notes.length === 0 ? option.description : `${option.description} (${notes.join('; ')})`
}

const describeArgument = ({ description, argChoices }: Argument) =>
  argChoices === undefined ? description : `${description} (choices: ${argChoices.join(', ')})`

const isShownDefault = ({ defaultValue, negate }: Option) =>
  !negate && (typeof defaultValue === 'string' || typeof defaultValue === 'number')

function reportFailure(error: unknown, command: Command, json: boolean): number {
  const isUsage = error instanceof CommanderError || error instanceof UsageError
  if (error instanceof CommanderError && error.exitCode === 0) return 0 // help and version were asked for
  const { out, err } = terminal()
  const isHelp = error instanceof CommanderError && error.code === 'commander.help'
  const message = isHelp ? 'Give a command.' : explain(error)
  if (json) out.write(`${JSON.stringify({ error: message })}\n`)
  // A group of commands without one has printed its help.
  if (!isHelp) err.write(`${message}\n`)
  if (isUsage && !isHelp) err.write(`See: ${hint([...pathOf(command), '--help'].join(' '))}\n`)
  return isUsage ? USAGE_STATUS : 1
}

const pathOf = (command: Command): string[] =>
  command.parent === null ? [] : [...pathOf(command.parent), command.name()]

function explain(error: unknown): string {
  if (error instanceof CommanderError) return inOurWords(error.message)
  if (error instanceof OperatorError || error instanceof AppError)
    return [error.message, hintFor(error) ?? []].flat().join(' ')
  if (isUnavailable(error)) {
    return `The database does not answer (${messageOf(error)}). Check that it is running and that DATABASE_URL is correct, or run "npx offerdeck doctor" to find out more.`
  }
  if (/^(EACCES|EROFS|EPERM|ENOSPC|EDQUOT)$/.test((error as NodeJS.ErrnoException).code ?? '')) {
    return `${messageOf(error)}. Free up space and check that this user can write there, or set DATA_DIR to another folder.`
  }
  return `Unexpected error:\n${error instanceof Error ? error.stack : String(error)}`
}

/** A message of the parser, such as "error: unknown option '--colour'", as a sentence like all others. */
function inOurWords(message: string): string {
  const text = message
    .replace(/^error: /, '')
    .replaceAll("'", '"')
    .trim()
  for (const [form, words] of WORDS) if (form.test(text)) return text.replace(form, words)
  const sentence = `${text.charAt(0).toUpperCase()}${text.slice(1)}`
  return sentence.replace(/\n\(Did you mean (.*?)\?\)$/, '. Did you mean "$1"?').replace(/[^.?!]$/, '$&.')
}

const WORDS: [RegExp, string][] = [
  [/^required option "([^"]+)".*$/s, '$1 is required.'],
  [/^missing required argument "([^"]+)".*$/s, '<$1> is required.'],
  [/^option "(?:-\w, )?(--[\w-]+)[^"]*" argument missing$/, '$1 needs a value.'],
  [
    /^option "(--[\w-]+)[^"]*" argument "([^]*)" is invalid\. Allowed choices are (.*)\.$/,
    '$1 must be one of $3, not "$2".',
  ],
  [
    /^command-argument value "([^]*)" is invalid for argument "(\w+)"\. Allowed choices are (.*)\.$/,
    '<$2> must be one of $3, not "$1".',
  ],
]
