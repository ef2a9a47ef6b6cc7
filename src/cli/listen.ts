import { Command } from 'commander'
import { loadConfig } from '../config.ts'
import { messageOf, OperatorError } from '../errors.ts'
import { type NamedSecret, startListener } from '../features/postbacks/listener.ts'
import { isSigningSecret } from '../features/postbacks/signing.ts'
import { readDemoApp } from './demo-app.ts'
import { collect, type OutputOptions, say } from './output.ts'
import { terminal } from './terminal.ts'
import { UsageError } from './usage.ts'

type ListenOptions = OutputOptions & { port: string; fail?: string; status?: string; secret: string[] }

export const listenCommand = () =>
  new Command('listen')
    .option('--port <n>', 'port to listen on, on 127.0.0.1; 0 picks a free one', '8088')
    .option('--fail <rate>', 'share of postbacks to fail, from 0 (none) to 1 (all)')
    .option('--status <n>', 'HTTP status of failures (default: 500); without --fail, the status of every response')
    .option(
      '--secret <secret>',
      "a signing secret, to verify signatures (can be repeated; default: the demo app's)",
      collect,
      [],
    )
    .action(listen)

async function listen(options: ListenOptions): Promise<void> {
  const port = readNumber('--port', options.port, /^\d{1,5}$/, [0, 65_535])
  const failStatus = readNumber('--status', options.status ?? '500', /^\d{3}$/, [200, 599])
  const isStatusGiven = options.status !== undefined
  const failRate = readNumber('--fail', options.fail ?? (isStatusGiven ? '1' : '0'), /^(\d|\d?\.\d{1,6})$/, [0, 1])
  const secrets = secretsOf(options.secret)
  const listener = await startListener({
    port,
    failRate,
    failStatus,
    secrets,
    print: say,
    ...(options.json ? { describe: JSON.stringify } : {}),
  }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE')
      throw new OperatorError(`Port ${port} is already in use. Choose another with --port.`)
    throw new OperatorError(`Cannot listen on port ${port}: ${messageOf(error)}. Choose another with --port.`)
  })
  const url = `http://127.0.0.1:${listener.port}`
  const checked = secrets.map(({ name }) => name)
  const how = checked.length === 0 ? 'not checked: add --secret' : `checked with ${checked.join(', ')}`
  say(
    options.json
      ? JSON.stringify({ url, secrets: checked })
      : `Waiting for postbacks at ${url}\nSignatures are ${how}.\nPress Ctrl-C to stop.\n`,
  )
  await new Promise<void>((resolve) => {
    process.once('SIGINT', () => resolve())
    process.once('SIGTERM', () => resolve())
  })
  await listener.close()
}

/** Those given, or those of the demo app in this folder. */
function secretsOf(given: string[]): NamedSecret[] {
  if (!given.every(isSigningSecret))
    throw new UsageError(
      '--secret must be a signing secret: whsec_ followed by base64, as printed by "npx offerdeck app create".',
    )
  if (given.length > 0) return given.map((secret) => ({ name: `${secret.slice(0, SHOWN)}…`, secret }))
  const demo = readDemoApp(loadConfig(terminal().env).dataDir)
  if (demo === null) return []
  return [
    { name: 'the live secret of the demo app', secret: demo.live.signing_secret },
    { name: 'the test secret of the demo app', secret: demo.test.signing_secret },
  ]
}

const SHOWN = 'whsec_'.length + 4

function readNumber(name: string, text: string, form: RegExp, [min, max]: [number, number]): number {
  const value = form.test(text) ? Number(text) : Number.NaN
  if (!(value >= min && value <= max)) throw new UsageError(`${name} must be a number from ${min} to ${max}.`)
  return value
}
