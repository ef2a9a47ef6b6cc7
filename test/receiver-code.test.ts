// The receivers that the dashboard writes for an app, run in every language against postbacks as we sign and send them.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test, type TestContext } from 'node:test'
import { buildRequest } from '../src/features/postbacks/message.ts'
import { DEFAULTS, type PostbackSettings } from '../src/features/postbacks/settings.ts'
import { EXAMPLE_VALUES } from '../src/features/postbacks/template.ts'
import { type Language, LANGUAGES, secretNameOf, writeReceiver } from '../web/dashboard/src/parts/postbacks/receiver-code.ts' // prettier-ignore
import { createFolder } from './folders.ts'
import { until } from './installation.ts'
import { freePort } from './ports.ts'

const FILES: Record<Language, string> = { Node: 'node.mjs', PHP: 'php.php', Python: 'python.py', Go: 'go.go' }
const secretOf = (text: string) => `whsec_${Buffer.from(text).toString('base64')}`
const [LIVE, TEST, FORGED] = ['the live secret of an app, of 32', 'and the secret for testing it.32', 'of somebody else, who has none..'].map(secretOf) as [string, string, string] // prettier-ignore
const SECRET_NAME = 'LUCKY_COINS_SIGNING_SECRET'

const folder = createFolder('receiver-code')
after(() => rmSync(folder, { recursive: true }))

const SETTINGS: Record<string, Pick<PostbackSettings, 'method' | 'url'>> = {
  'a POST': { method: 'POST', url: '/hook' },
  'a GET': { method: 'GET', url: '/cb/{offer_id}?who={user_id}&t={transaction_id}&s={status}&r={reward}' },
  'a GET with {signature}': { method: 'GET', url: '/cb?who={user_id}&r={reward}&sig={signature}' },
}

function commandOf(language: Language, file: string, port: number): [string, string[]] {
  if (language === 'Node') return [process.execPath, [file]]
  if (language === 'PHP') return ['php', ['-S', `127.0.0.1:${port}`, file]]
  if (language === 'Python') return ['python3', ['-u', file]]
  const built = spawnSync('go', ['build', '-o', `${file}.bin`, file], { encoding: 'utf8' })
  assert.equal(built.status, 0, built.stderr)
  return [`${file}.bin`, []]
}

async function run(t: TestContext, language: Language, settings: PostbackSettings, port: number) {
  const verify = readFileSync(new URL(`../examples/verify-postback/${FILES[language]}`, import.meta.url), 'utf8')
  const file = join(folder, `${port}-${FILES[language]}`)
  writeFileSync(file, writeReceiver(language, verify, { ...settings, secretName: SECRET_NAME }))
  const [program, args] = commandOf(language, file, port)
  const env = { ...process.env, PORT: String(port), [SECRET_NAME]: `${LIVE} ${TEST}` }
  const child: ChildProcess = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const said: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => said.push(String(text)))
  t.after(async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'close')
  })
  return () => said.join('')
}

/** As a worker sends it. */
async function send(settings: PostbackSettings, secret: string, now = new Date()): Promise<number> {
  const data = { user_id: 'Zoë & co', status: 'approved', payout_local: 12.5, is_test: false }
  const body = { id: 'evt-1', type: 'conversion.approved', created_at: now.toISOString(), sequence: 1, data }
  const macros = { ...EXAMPLE_VALUES, user_id: 'Zoë & co', reward: 12.5 }
  const request = buildRequest({ body, macros }, settings, [secret], now)
  const answer = await fetch(request.url, { method: request.method, headers: request.headers, body: request.body })
  await answer.text()
  return answer.status
}

for (const language of LANGUAGES)
  for (const [name, { method, url }] of Object.entries(SETTINGS))
    test(`the receiver in ${language} of ${name} takes what we signed, and nothing else`, async (t) => {
      const port = await freePort()
      const settings = { ...DEFAULTS, method, url: `http://127.0.0.1:${port}${url}` }
      const said = await run(t, language, settings, port)
      let last: unknown
      await until(() => send(settings, LIVE).then((status) => (last = status) === 200, (error: unknown) => ((last = error), false))) // prettier-ignore
        .catch(() => assert.fail(`${String(last)}\n${said()}`))
      assert.equal(await send(settings, TEST), 200)
      assert.equal(await send(settings, FORGED), 401)
      if (!url.endsWith('{signature}')) assert.equal(await send(settings, LIVE, new Date(Date.now() - 600_000)), 401)
      await until(async () => /Zo(ë|\\u00eb) & co/.test(said())) // what was sent is what is read
      assert.match(said(), /12\.5/)
    })

test('the variable for the secrets is named after the app', () => {
  const names = ['Lucky Coins', '  Café №1 ', '3D Games', '日本', 'x'.repeat(60)].map(secretNameOf)
  assert.deepEqual(names, [
    'LUCKY_COINS_SIGNING_SECRET',
    'CAFE_NO1_SIGNING_SECRET',
    'APP_3D_GAMES_SIGNING_SECRET',
    'APP_SIGNING_SECRET',
    `${'X'.repeat(40)}_SIGNING_SECRET`,
  ])
})
