// The receivers that docs/postbacks.md shows, run: they credit once, and take back what is reversed.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createFolder } from '../../../test/folders.ts'
import { until } from '../../../test/installation.ts'
import { freePort } from '../../../test/ports.ts'
import { uuid7 } from '../../lib/uuid7.ts'
import { signMessage } from './signing.ts'

const EXAMPLES = fileURLToPath(new URL('../../../examples', import.meta.url))
const SECRET = `whsec_${Buffer.from('the secret of this test, 32 long').toString('base64')}`
const OTHER = `whsec_${Buffer.from('another secret, 32 bytes, or so.').toString('base64')}`
const FORGED = `whsec_${Buffer.from('a secret of somebody else, 32 by').toString('base64')}`

type Language = { file: string; args: (file: string, port: number) => [string, ...string[]]; importing: string[] }

const LANGUAGES: Language[] = [
  {
    file: 'node.mjs',
    args: (file) => [process.execPath, '--disable-warning=ExperimentalWarning', file],
    importing: [process.execPath, '--input-type=module', '-e', "await import('./node.mjs')"],
  },
  { file: 'python.py', args: (file) => ['python3', file], importing: ['python3', '-c', 'import python'] },
  {
    file: 'php.php',
    args: (file, port) => ['php', '-S', `127.0.0.1:${port}`, file],
    importing: ['php', '-r', "require 'php.php';"],
  },
]

type Event = { id: string; conversion: string; status: string; reward: number; test?: boolean }

function start(t: TestContext, { file, args }: Language, port: number, database: string, secrets: string): void {
  const [program, ...rest] = args(file, port)
  const env = { ...process.env, PORT: String(port), DATABASE: database, SIGNING_SECRET: secrets }
  const child: ChildProcess = spawn(program, rest, { cwd: join(EXAMPLES, 'receiver'), env, stdio: 'ignore' })
  t.after(async () => {
    child.kill('SIGKILL')
    await once(child, 'close')
    rmSync(dirname(database), { recursive: true })
  })
}

/** As a worker sends it. */
function send(port: number, { id, conversion, status, reward, test: isTest = false }: Event, secret = SECRET) {
  const data = { conversion_id: conversion, user_id: 'Zoë', status, payout_local: reward, is_test: isTest }
  const body = JSON.stringify({ id, type: `conversion.${status}`, sequence: 1, data })
  const now = Math.floor(Date.now() / 1_000)
  return fetch(`http://127.0.0.1:${port}/postback`, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(now),
      'webhook-signature': signMessage([secret], id, now, body),
    },
  })
}

for (const language of LANGUAGES) {
  const { file, importing } = language
  const [program = ''] = importing
  test(`the receiver in ${file} credits once and takes back`, async (t) => {
    const port = await freePort()
    const database = join(createFolder('receiver'), 'accounts.db')
    start(t, language, port, database, `${OTHER} ${SECRET}`)
    const statusOf = async (event: Event, secret?: string) => (await send(port, event, secret)).status
    const balance = () => {
      const db = new DatabaseSync(database)
      const row = db.prepare('SELECT reward FROM balances WHERE user_id = ?').get('Zoë')
      db.close()
      return row?.['reward'] ?? 0
    }
    const now = Date.now()
    const approved = { id: uuid7(now), conversion: uuid7(now), status: 'approved', reward: 12.3456 }
    const second = { id: uuid7(now), conversion: uuid7(now), status: 'approved', reward: 0.7 }
    await until(() => statusOf(approved).then((status) => status === 200, () => false)) // prettier-ignore
    assert.equal(balance(), 123_456)
    assert.deepEqual(await Promise.all([second, second, second, approved].map((one) => statusOf(one))), [200, 200, 200, 200]) // prettier-ignore
    assert.equal(balance(), 130_456)
    const reversed = { ...approved, id: uuid7(now), status: 'reversed', reward: -12.3456 }
    assert.deepEqual([await statusOf(reversed), await statusOf(reversed)], [200, 200])
    assert.equal(balance(), 7_000)
    for (const more of [{ status: 'pending' }, { status: 'rejected' }, { status: 'approved', test: true }])
      assert.equal(await statusOf({ ...approved, ...more, id: uuid7(now) }), 200)
    const forged = { ...approved, id: uuid7(now) }
    assert.equal(await statusOf(forged, FORGED), 401)
    assert.equal(balance(), 7_000)
  })

  for (const folder of ['receiver', 'verify-postback'])
    test(`${folder}/${file} can be imported without running`, () => {
      const cwd = join(EXAMPLES, folder)
      const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' }
      const { status, stdout } = spawnSync(program, importing.slice(1), {
        cwd,
        env,
        encoding: 'utf8',
        timeout: 120_000,
      })
      assert.deepEqual([status, stdout], [0, ''])
    })

  test(`the docs show the receiver in ${file} as it is`, () => {
    const docs = readFileSync(join(EXAMPLES, '../docs/postbacks.md'), 'utf8')
    const text = readFileSync(join(EXAMPLES, 'receiver', file), 'utf8')
      .replace('<?php\n', '')
      .trim()
    assert.ok(docs.includes(`\n${text}\n\`\`\`\n`), `docs/postbacks.md shows another text than ${file}.`)
  })
}
