import { Command } from 'commander'
import { messageOf, OperatorError } from '../errors.ts'
import { startListener } from '../features/postbacks/listener.ts'
import { isSigningSecret } from '../features/postbacks/signing.ts'
import { type OutputOptions, say } from './output.ts'

type ListenOptions = OutputOptions & { port: string; fail?: string; status?: string; secret: string[] }

export const listenCommand = () =>
  new Command('listen')
    .description('receive postbacks on this machine and print them')
    .option('--port <n>', 'port to listen on, on 127.0.0.1; 0 picks a free one', '8088')
    .option('--fail <rate>', 'share of postbacks to fail, from 0 (none) to 1 (all)')
    .option('--status <n>', 'HTTP status of failures (default: 500); without --fail, the status of every response')
    .option(
      '--secret <secret>',
      "the app's signing secret, to verify signatures (can be given twice)",
      (secret: string, before: string[]) => [...before, secret],
      [] as string[],
    )
    .action(listen)

async function listen(options: ListenOptions): Promise<void> {
  const port = readNumber('--port', options.port, /^\d{1,5}$/, [0, 65_535])
  const failStatus = readNumber('--status', options.status ?? '500', /^\d{3}$/, [200, 599])
  const isStatusGiven = options.status !== undefined
  const failRate = readNumber('--fail', options.fail ?? (isStatusGiven ? '1' : '0'), /^(\d|\d?\.\d{1,6})$/, [0, 1])
  if (!options.secret.every(isSigningSecret))
    throw new OperatorError(
      '--secret must be a signing secret: whsec_ followed by base64, as printed by "offerdeck app create".',
    )
  const listener = await startListener({
    port,
    failRate,
    failStatus,
    secrets: options.secret,
    print: say,
    ...(options.json ? { describe: JSON.stringify } : {}),
  }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE')
      throw new OperatorError(`Port ${port} is already in use. Choose another with --port.`)
    throw new OperatorError(`Cannot listen on port ${port}: ${messageOf(error)}. Choose another with --port.`)
  })
  const address = `http://127.0.0.1:${listener.port}`
  say(options.json ? JSON.stringify({ address }) : `Waiting for postbacks at ${address}\nPress Ctrl-C to stop.\n`)
  await new Promise<void>((resolve) => {
    process.once('SIGINT', () => resolve())
    process.once('SIGTERM', () => resolve())
  })
  await listener.close()
}

function readNumber(name: string, text: string, form: RegExp, [min, max]: [number, number]): number {
  const value = form.test(text) ? Number(text) : Number.NaN
  if (!(value >= min && value <= max)) throw new OperatorError(`${name} must be a number from ${min} to ${max}.`)
  return value
}
