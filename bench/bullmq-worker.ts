// What people would build otherwise: BullMQ on Redis, its worker sending with undici. It keeps no log. A line with a
// number on the standard input makes it work for so many seconds; it prints how many it has delivered.
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { Queue, Worker } from 'bullmq'
import { Agent, request } from 'undici'
import { BODY, HEADERS, IN_FLIGHT } from './delivery-load.ts'

const [, , sink = '', port = ''] = process.argv
const connection = { host: '127.0.0.1', port: Number(port) }
const queue = new Queue('postbacks', { connection })
const dispatcher = new Agent({ connections: IN_FLIGHT, pipelining: 1 })
let delivered = 0
const worker = new Worker(
  'postbacks',
  async () => {
    const { statusCode, body } = await request(sink, { method: 'POST', headers: HEADERS, body: BODY, dispatcher })
    await body.dump()
    if (statusCode === 200) delivered++
  },
  { connection, concurrency: IN_FLIGHT, autorun: false, removeOnComplete: { count: 0 } },
)
await worker.waitUntilReady()
void worker.run()
await worker.pause()

const FILL = 5_000
const PER_SECOND = 15_000 // more than it can deliver

async function fill(seconds: number): Promise<void> {
  for (let waiting = await queue.getWaitingCount(); waiting < seconds * PER_SECOND; waiting += FILL)
    await queue.addBulk(Array.from({ length: FILL }, () => ({ name: 'postback', data: { body: BODY } })))
}

console.log(JSON.stringify({ address: 'ready' }))
for await (const line of createInterface({ input: process.stdin })) {
  const seconds = Number(line)
  await fill(seconds)
  console.log(JSON.stringify({ ready: true }))
  const before = delivered
  const startedMs = performance.now()
  await worker.resume()
  await sleep(seconds * 1000)
  const rate = ((delivered - before) * 1000) / (performance.now() - startedMs)
  await worker.pause()
  console.log(JSON.stringify({ rate }))
}
