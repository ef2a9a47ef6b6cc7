// Contenders take turns, because the machine is noisy: what counts is the ratio within a round, and the median of those.

export type Plan = { warmUpSeconds: number; rounds: number; seconds: number }

/** One contender in one round. */
export type Lap = {
  requestsPerSecond: number
  /** Of the server process. */
  cpuMicrosPerRequest: number
  /** Of PostgreSQL, where that was watched, else 0. */
  databaseMicrosPerRequest: number
  bytesPerRequest: number
  p50Ms: number
  p99Ms: number
  /** Answered with a status below 400. */
  answers: number
  /** Answered with a status of 400 or above. */
  refused: number
  /** Not answered: connection or timeout. */
  broken: number
}

export type RunLap = (seconds: number) => Promise<Lap>

export type Comparison = {
  /** Requests a second of the first over those of the second: median of the rounds. */
  throughput: number
  /** CPU time per request of the second over that of the first. Above 1 the first is cheaper. */
  cpu: number
  first: Lap
  second: Lap
  rounds: { first: Lap; second: Lap }[]
}

/** Warms both up, then lets them run in turn. */
export async function takeTurns(
  runFirst: RunLap,
  runSecond: RunLap,
  { warmUpSeconds, rounds: count, seconds }: Plan,
): Promise<Comparison> {
  await runFirst(warmUpSeconds)
  await runSecond(warmUpSeconds)
  const rounds: Comparison['rounds'] = []
  for (let round = 0; round < count; round++) {
    rounds.push({ first: await runFirst(seconds), second: await runSecond(seconds) })
  }
  return {
    throughput: median(rounds.map((round) => round.first.requestsPerSecond / round.second.requestsPerSecond)),
    cpu: median(rounds.map((round) => allCpu(round.second) / allCpu(round.first))),
    first: middleLap(rounds.map((round) => round.first)),
    second: middleLap(rounds.map((round) => round.second)),
    rounds,
  }
}

const allCpu = (lap: Lap) => lap.cpuMicrosPerRequest + lap.databaseMicrosPerRequest

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

/** The median of each value; of answers and failures the sum, so that none is hidden. */
function middleLap(laps: Lap[]): Lap {
  const of = (name: keyof Lap) => median(laps.map((lap) => lap[name]))
  const sum = (name: keyof Lap) => laps.reduce((total, lap) => total + lap[name], 0)
  return {
    requestsPerSecond: of('requestsPerSecond'),
    cpuMicrosPerRequest: of('cpuMicrosPerRequest'),
    databaseMicrosPerRequest: of('databaseMicrosPerRequest'),
    bytesPerRequest: of('bytesPerRequest'),
    p50Ms: of('p50Ms'),
    p99Ms: of('p99Ms'),
    answers: sum('answers'),
    refused: sum('refused'),
    broken: sum('broken'),
  }
}
