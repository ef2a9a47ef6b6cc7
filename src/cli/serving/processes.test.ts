// PROCESSES: a supervisor with several API processes on one port, and a worker.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, readdirSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { createServer } from 'node:net'
import { after, before, test } from 'node:test'
import { childrenOf } from '../../../test/child-processes.ts'
import { Installation, type Running, until } from '../../../test/installation.ts'
import { freePort } from '../../../test/ports.ts'

type Keys = { api_key: string; api_secret: string }
type Printed = { demo: { live: Keys; test: Keys }; set_up_url: string | null }

const home = new Installation()
let server: Running & { url: string }
let metricsPort: number
let keys: Printed['demo']
before(async () => {
  metricsPort = await freePort()
  server = await home.serve({ PROCESSES: '2', METRICS_PORT: String(metricsPort), DRAIN_SECONDS: '60' }, ['--json'])
  keys = (JSON.parse(server.out) as Printed).demo
})
after(() => home.remove())

type Reply = { status: number; remaining: number; connection: string | undefined }

/** Over a connection of its own, to any of the processes. */
const list = ({ api_key, api_secret }: Keys, agent = new Agent({ keepAlive: false })): Promise<Reply> =>
  new Promise((resolve, reject) => {
    const headers = { 'x-api-key': api_key, 'x-api-secret': api_secret }
    const request = get(`${server.url}/api/v1/offers?userId=u&limit=1`, { headers, agent }, (reply) => {
      reply.resume().on('end', () =>
        resolve({
          status: reply.statusCode ?? 0,
          remaining: Number(reply.headers['x-ratelimit-remaining']),
          connection: reply.headers.connection,
        }),
      )
    })
    request.on('error', reject)
  })

const statusAt = async (path: string) => (await fetch(`${server.url}${path}`).catch(() => null))?.status ?? null
const figures = async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
const startsOf = async () =>
  new Map(
    [...(await figures()).matchAll(/^process_start_time_seconds\{process="(.*?)"\} (\d+)/gm)].map(
      ([, name = '', at = '']) => [name, at],
    ),
  )

const isProgram = (pid: number) => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('offerdeck.js')
  } catch {
    return false
  }
}
const processes = () => childrenOf(server.pid).filter(isProgram)

test('each has a process of its own, with its figures, and answers on the one port', async () => {
  assert.deepEqual([...(await startsOf()).keys()].toSorted(), ['api-1', 'api-2', 'supervisor', 'worker'])
  assert.equal(processes().length, 3)
  // The kernel chooses by the addresses of a connection.
  await until(async () => {
    assert.equal(await statusAt('/readyz'), 200)
    await list(keys.test)
    const answered = (await figures()).matchAll(/^offerdeck_http_requests_total\{.*status="200",process="(api-\d)"\}/gm)
    return new Set([...answered].map(([, name]) => name)).size === 2
  })
})

test('a rate limit is exact among them: each remaining count once, and no request more', async () => {
  const replies = await Promise.all(Array.from({ length: 150 }, () => list(keys.live)))
  const passed = replies.filter(({ status }) => status === 200)
  assert.equal(passed.length, 100)
  assert.deepEqual(passed.map(({ remaining }) => remaining).toSorted((a, b) => a - b), Array.from({ length: 100 }, (_, i) => i)) // prettier-ignore
  assert.ok(replies.filter(({ status }) => status !== 200).every(({ status }) => status === 429))
})

test('one that is killed is replaced, and meanwhile the other one answers', async () => {
  const first = await startsOf()
  const killed = processes()
  for (const pid of killed) {
    process.kill(pid, 'SIGKILL')
    await until(async () => !processes().includes(pid) && (await statusAt('/readyz')) === 200)
    await until(async () => (await startsOf()).size === 4)
  }
  const second = await startsOf()
  assert.deepEqual([...second.keys()].toSorted(), [...first.keys()].toSorted())
  assert.equal(processes().filter((pid) => killed.includes(pid)).length, 0)
  assert.match(await figures(), /^offerdeck_process_restarts_total\{process="supervisor"\} 3$/m)
})

test('one that cannot be started for lack of files is tried again, later each time', async () => {
  const limit = (files: number | string) => execFileSync('prlimit', ['--pid', String(server.pid), `--nofile=${files}:`])
  const log = () => server.err.split('\n').filter((line) => line.includes('EMFILE'))
  const [killed = 0] = processes()
  limit(readdirSync(`/proc/${server.pid}/fd`).length - 3) // those of the one that is killed become free
  process.kill(killed, 'SIGKILL')
  await until(() => log().length === 3)
  const waits = log().map((line) => Number(/could not start \(.*\); it is started again in (.*?) s/.exec(line)?.[1]))
  assert.deepEqual(waits.slice(1), waits.slice(0, 2).map((wait) => wait * 2)) // prettier-ignore
  limit(1024)
  await until(async () => (await startsOf()).size === 4)
  assert.equal(processes().length, 3)
})

test('a stop drains: readyz says so, what is asked is answered, and all processes end', async () => {
  const agent = new Agent({ keepAlive: true })
  assert.equal((await list(keys.test, agent)).connection, 'keep-alive')
  const pids = processes()
  const stopped = server.kill('SIGTERM')
  await until(async () => (await statusAt('/readyz')) === 503)
  // The process of this connection may hear of it a moment later.
  await until(async () => {
    const reply = await list(keys.test, agent)
    assert.equal(reply.status, 200)
    return reply.connection === 'close'
  })
  void server.kill('SIGTERM')
  const { status, err } = await stopped
  assert.equal(status, 0, err)
  assert.deepEqual(pids.filter(isProgram), [])
  assert.deepEqual(home.postgresProcesses(), [])
  assert.equal(err.match(/ended by SIGKILL; it is started again in/g)?.length, 4, 'those that were killed, and none that was stopped') // prettier-ignore
})

test('a supervisor that is killed takes the others with it, and a port in use is reported', async () => {
  server = await home.serve({ PROCESSES: '2' }, ['--json'])
  const pids = processes()
  assert.equal(pids.length, 3)
  await server.kill('SIGKILL')
  await until(() => !pids.some(isProgram))
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as { port: number }
  const { status, err } = await home.run(['serve'], { PORT: String(port), PROCESSES: '2' })
  assert.equal(status, 1)
  assert.match(err, new RegExp(`Port ${port} on 127\\.0\\.0\\.1 is already in use\\. Stop the other program`))
  other.close()
})
