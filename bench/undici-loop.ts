// The least that delivering can cost: the same request again and again, no queue, no storage. Works on command like
// bullmq-worker.ts.
import { createInterface } from 'node:readline'
import { Agent, request } from 'undici'
import { BODY, HEADERS, IN_FLIGHT } from './delivery-load.ts'

const sink = process.argv[2] ?? ''
const dispatcher = new Agent({ connections: IN_FLIGHT, pipelining: 1 })

async function deliverUntil(endMs: number): Promise<number> {
  let delivered = 0
  while (performance.now() < endMs) {
    const { statusCode, body } = await request(sink, { method: 'POST', headers: HEADERS, body: BODY, dispatcher })
    await body.dump()
    if (statusCode === 200) delivered++
  }
  return delivered
}

console.log(JSON.stringify({ address: 'ready' }))
for await (const line of createInterface({ input: process.stdin })) {
  const startedMs = performance.now()
  const endMs = startedMs + Number(line) * 1000
  console.log(JSON.stringify({ ready: true }))
  const counts = await Promise.all(Array.from({ length: IN_FLIGHT }, () => deliverUntil(endMs)))
  const rate = (counts.reduce((sum, count) => sum + count, 0) * 1000) / (performance.now() - startedMs)
  console.log(JSON.stringify({ rate }))
}
