// npm run bench -- --only processes: lists from several processes (PROCESSES) beside one, with the load generator on the same
// machine, and what each process takes.
import { prepareCatalogue, type Say } from './data.ts'
import { childPids, familyCpuSeconds, residentMb } from './programs.ts'
import type { Comparison, Plan } from './rounds.ts'
import { type Running, startServe } from './servers.ts'
import { compareLists } from './wrk.ts'

export type ProcessesPlan = Plan & { offers: number; processes: number }
export type Processes = { offers: number; processes: number; lists: Comparison; residentMb: number[]; log: string[] }

export async function measureProcesses(plan: ProcessesPlan, say: Say): Promise<Processes> {
  const { offers, processes } = plan
  const catalogue = await prepareCatalogue(offers, say)
  const one = await startServe(catalogue.dataDir, ['--only', 'api'], {})
  const several = await startServe(catalogue.dataDir, ['--only', 'api'], { PROCESSES: String(processes) })
  try {
    say(`${processes} processes and 1 in turn, ${offers.toLocaleString('en')} offers …`)
    const lists = await compareLists(withFamily(several), withFamily(one), 'list', catalogue, plan)
    return {
      offers,
      processes,
      lists,
      residentMb: childPids(several.pid).map(residentMb),
      log: [...several.log, ...one.log],
    }
  } finally {
    await several.stop()
    await one.stop()
  }
}

const withFamily = (server: Running): Running => ({ ...server, cpuSeconds: () => familyCpuSeconds(server.pid) })

export function describeProcesses({ offers, processes, lists, residentMb }: Processes): string {
  const { first, second } = lists
  const line = (name: string, { requestsPerSecond, cpuMicrosPerRequest, p50Ms, p99Ms }: typeof first) =>
    `${name.padEnd(14)} ${requestsPerSecond.toFixed(0).padStart(7)} a second, ${cpuMicrosPerRequest.toFixed(0)} µs of CPU each, p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`
  return [
    `Lists of ${offers.toLocaleString('en')} offers by ${processes} processes over 1: ${lists.throughput.toFixed(2)} by throughput, ${lists.cpu.toFixed(2)} by CPU for each request.`,
    line(`${processes} processes`, first),
    line('1 process', second),
    `Memory of each process: ${residentMb.join(', ')} MB.`,
  ].join('\n')
}
