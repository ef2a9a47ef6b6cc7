// Every shell block of README.md and docs/ is run, on a fresh installation with the demo, and prints what is shown.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Block, isShown, readIds, readSteps, withoutLanguage } from './blocks.ts'
import { Installation, type Running, until } from '../installation.ts'
import { freePort } from '../ports.ts'
import { earnProof } from './locker-proof.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const DOCUMENTS = ['README.md', ...readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`)] // prettier-ignore
/** Blocks that cannot be run here, in all documents: a reason is not a way out. */
const MOST_NOT_RUN = 4

const home = new Installation()
/** What commands printed that later blocks need: CLICK_ID, pk_live_…, and so on. */
const known = new Map<string, string>()
let server: Running & { url: string }
let listenPort: number

// "npx offerdeck" runs in this process, which has loaded everything: a command takes milliseconds.
const commands = createServer((request, response) => {
  void (async () => {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const [args = '', env = ''] = Buffer.concat(chunks).toString().split('\0\0')
    const given = Object.fromEntries(env.split('\0').map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)])) // prettier-ignore
    const { status, out, err } = await home.run(args.split('\0').slice(1), given)
    response.end(`${status}\n${out}${err}`)
  })()
})
const NPX = `#!/bin/sh
{ printf '%s\\0' "$@"; printf '\\0'; env -0; } | curl -sS --data-binary @- -H 'Expect:' --unix-socket "$COMMANDS" http://commands/ |
  { read -r status; cat; exit "$status"; }
`

/** An answer that is an error fails its block. */
const CURL = `#!/bin/sh
PATH="\${PATH#*:}" exec curl --fail-with-body "$@"
`

before(async () => {
  for (const name of ['examples', 'docs']) symlinkSync(join(ROOT, name), join(home.folder, name))
  for (const [name, script] of [
    ['npx', NPX],
    ['curl', CURL],
  ] as const) {
    writeFileSync(join(home.folder, name), script)
    chmodSync(join(home.folder, name), 0o755)
  }
  commands.listen(join(home.folder, 'commands.sock'))
  listenPort = await freePort()
  home.env = { POSTBACK_ALLOW: '127.0.0.1/32' }
  server = await home.serve()
  home.env = { ...home.env, PORT: URL.parse(server.url)?.port ?? '' }
  // The demo's postbacks go to a port that may be in use here.
  const { postback } = await home.json<{ postback: { url: string } }>('app', 'show', 'Demo app')
  await home.json('app', 'set-postback', 'Demo app', '--url', postback.url.replace(':8088', `:${listenPort}`))
  learn(server.out)
})
after(async () => {
  commands.close()
  await home.remove()
})

function learn(printed: string): void {
  for (const [name, id] of readIds(printed)) known.set(name.toUpperCase(), id)
  for (const [key, prefix = ''] of printed.matchAll(/\b((?:pk|sk)_(?:live|test)_|adv_|whsec_)[\w+/=]{20,}/g)) {
    if (!known.has(`${prefix}…`) || prefix === 'adv_') known.set(`${prefix}…`, key)
  }
  const clickId = /[?&]click=([\w-]+)/.exec(printed)?.[1]
  if (clickId !== undefined) known.set('CLICK_ID', clickId)
}

/** As a person would type it: with the values that were printed, at the ports of this test. */
function fillIn(script: string): string {
  return script
    .replaceAll(/\b[A-Z]+(?:_[A-Z]+)*_ID\b/g, (name) => known.get(name) ?? name)
    .replaceAll(/\b(?:(?:pk|sk)_(?:live|test)_|adv_|whsec_)…/g, (name) => known.get(name) ?? name)
    .replaceAll('locker.v1.…', (name) => known.get(name) ?? name)
    .replaceAll(/https:\/\/offers\.example\.com|http:\/\/127\.0\.0\.1:8080/g, server.url)
    .replaceAll('127.0.0.1:8088', `127.0.0.1:${listenPort}`)
}

const asShown = (printed: string) =>
  printed.replaceAll(server.url, 'http://127.0.0.1:8080').replaceAll(`127.0.0.1:${listenPort}`, '127.0.0.1:8088')

/** Variables that a block sets are there in the next one. */
async function runBlock({ script }: Block): Promise<{ status: number | null; printed: string }> {
  const env = { PATH: `${home.folder}:${process.env['PATH']}`, HOME: home.folder, COMMANDS: join(home.folder, 'commands.sock') } // prettier-ignore
  const kept = join(home.folder, 'variables')
  const whole = `set -aeuo pipefail; touch ${kept}; . ${kept}\n${fillIn(script)}\nexport -p | grep -v ' PATH=' > ${kept}\n`
  const child = spawn('bash', ['-c', whole], { cwd: home.folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (printed += text)) // prettier-ignore
  const [status] = (await once(child, 'close')) as [number | null]
  learn(printed)
  return { status, printed: asShown(prettyJson(printed)) }
}

/** A change appears in the feed of events a moment after it was answered: what only reads is read again. */
async function runUntilShown(block: Block): Promise<{ status: number | null; printed: string }> {
  let result = await runBlock(block)
  const { output } = block
  const isReading = /^curl -s "[^"]*\/v1\/events[^"]*"(?! -[dX])/.test(block.script)
  if (!isReading || output === null) return result
  await until(async () => {
    if (isShown(shownOf(output), result.printed)) return true
    result = await runBlock(block)
    return false
  }).catch(() => {})
  return result
}

async function runWhileStopped(block: Block): Promise<{ status: number | null; printed: string }> {
  await server.kill('SIGTERM')
  const result = await runBlock(block)
  const restarted = home.start(['serve'])
  await restarted.prints('Ctrl-C')
  server = Object.assign(restarted, { url: server.url })
  return result
}

async function learnProof(): Promise<void> {
  const { lockerId, proof } = await earnProof(home, server.url)
  known.set('LOCKER_ID', String(lockerId)).set('locker.v1.…', proof)
}

/** curl prints an answer as one line; documents show it readable. */
function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

for (const name of DOCUMENTS) {
  const steps = readSteps(readFileSync(join(ROOT, name), 'utf8'))
  if (!steps.some((step) => 'printedThere' in step || step.notRun === null)) continue
  test(`the commands of ${name} work and print what it shows`, async () => {
    const background: Running[] = []
    const problems: string[] = []
    try {
      for (const step of steps) {
        const where = `${name}:${step.line}`
        if ('printedThere' in step) {
          const printed = () => asShown(background.map(({ out }) => out).join(''))
          await until(() => contains(printed(), step.printedThere)).catch(() =>
            problems.push(`${where} shows\n${step.printedThere}\nbut there is\n${printed()}`),
          )
        } else if (step.isBackground) background.push(await startInBackground(step))
        else if (step.notRun === null) {
          if (step.script.includes('locker.v1.…')) await learnProof()
          const { status, printed } = step.needsStop ? await runWhileStopped(step) : await runUntilShown(step)
          if (status !== 0) problems.push(`${where} ends with status ${status}\n${step.script}\n${printed}`)
          else if (step.output !== null && !isShown(shownOf(step.output), printed))
            problems.push(`${where} shows\n${step.output}\nbut the command prints\n${printed}`)
        }
      }
    } finally {
      for (const running of background) await running.kill('SIGKILL')
    }
    assert.ok(problems.length === 0, problems.join('\n\n'))
  })
}

test('every block names its language', () => {
  const left = DOCUMENTS.flatMap((name) =>
    withoutLanguage(readFileSync(join(ROOT, name), 'utf8')).map((line) => `${name}:${line}`),
  )
  assert.deepEqual(left, [])
})

test('few blocks are not run, and each says why', () => {
  const left = DOCUMENTS.flatMap((name) =>
    readSteps(readFileSync(join(ROOT, name), 'utf8')).flatMap((step) =>
      'notRun' in step && step.notRun !== null ? [`${name}:${step.line}: ${step.notRun}`] : [],
    ),
  )
  assert.ok(left.length <= MOST_NOT_RUN, left.join('\n'))
})

const shownOf = (output: string) => (output.includes('…') ? output : prettyJson(output))

/** Somewhere in what was printed, as whole lines. */
const contains = (printed: string, shown: string) => isShown(`…\n${shown}\n…`, `\n${printed}\n`)

/** Only "npx offerdeck listen" runs there. */
async function startInBackground({ script }: Block): Promise<Running> {
  const args = fillIn(script).replaceAll("'", '').trim().split(/\s+/).slice(2)
  assert.equal(args[0], 'listen', script)
  const running = home.start([...args, '--port', String(listenPort)])
  await running.prints('Ctrl-C')
  return running
}
