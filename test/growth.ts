// How the work of a function grows with what it is given, as a ratio that a busy machine does not change: CPU time of
// this thread, the least of several rounds, each of enough repetitions to be measured.
const ROUNDS = 4
const ROUND_MS = 6

/** CPU milliseconds of one run. */
function costOf(run: () => void): number {
  run() // compiled by now
  let least = Infinity
  for (let round = 0; round < ROUNDS; round++) {
    let [runs, spentMs] = [0, 0]
    const start = process.threadCpuUsage()
    do {
      run()
      runs++
      const { user, system } = process.threadCpuUsage(start)
      spentMs = (user + system) / 1_000
    } while (spentMs < ROUND_MS)
    least = Math.min(least, spentMs / runs)
  }
  return least
}

/**
 * How many times as much work `work` has with an input of 16 times the size, over 16: about 1 where the work is linear,
 * about 16 where it is quadratic.
 */
export function growthOf<T>(work: (input: T) => void, make: (size: number) => T, size: number): number {
  const [small, large] = [make(size), make(size * 16)]
  let growth = Infinity
  // On a busy machine caches are cold now and then: what looks too much is measured again.
  for (let attempt = 0; attempt < 4 && growth > 2; attempt++) {
    const cost = costOf(() => work(small))
    growth = Math.min(growth, costOf(() => work(large)) / cost / 16)
  }
  return growth
}

export type Work = (text: string) => unknown

/** For each doubling: linear work has 2, sorting a little more, quadratic work 4. */
export const MOST_FOR_TWICE = 3

/** What a quick look passes: a busy machine may slow down the small text more than the large one. */
const CLEARLY_FINE = 2.5
const DOUBLINGS = 3
const MOST_LOOKS = 8

/**
 * The factor by which work grows when its text doubles, even where it is awaited. A quick look by the clock passes what
 * is clearly fine, so that many texts can be checked. One that something else got in between of is repeated; what
 * remains is measured in CPU time.
 */
export async function growthForTwice(work: Work, textOf: (length: number) => string, length: number): Promise<number> {
  const [small, large] = [textOf(length), textOf(length * 2 ** DOUBLINGS)]
  const perDoubling = (ratio: number) => ratio ** (1 / DOUBLINGS)
  let [leastSmall, leastLarge] = [Infinity, Infinity]
  for (let look = 0; look < MOST_LOOKS; look++) {
    leastLarge = Math.min(leastLarge, await timeOf(work, large))
    // A slow run of the small text would let everything pass.
    for (let i = 0; i < 5; i++) leastSmall = Math.min(leastSmall, await timeOf(work, small))
    const growth = perDoubling(leastLarge / leastSmall)
    if (look > 0 && growth <= CLEARLY_FINE) return growth
  }
  let growth = Infinity
  for (let attempt = 0; attempt < 4 && growth > MOST_FOR_TWICE; attempt++)
    growth = Math.min(growth, perDoubling((await leastCpu(work, large)) / (await leastCpu(work, small))))
  return growth
}

const isAwaited = (result: unknown): result is PromiseLike<unknown> =>
  typeof (result as PromiseLike<unknown> | null)?.then === 'function'

async function timeOf(work: Work, text: string): Promise<number> {
  const start = performance.now()
  const result = work(text)
  if (isAwaited(result)) await result
  return performance.now() - start
}

/** Of one run. The clock of CPU time may tick only every few milliseconds. */
async function leastCpu(work: Work, text: string): Promise<number> {
  let least = Infinity
  for (let round = 0; round < 3; round++) {
    let [runs, spent] = [0, 0]
    const start = process.threadCpuUsage()
    do {
      const result = work(text)
      if (isAwaited(result)) await result
      runs++
      const { user, system } = process.threadCpuUsage(start)
      spent = user + system
    } while (spent < 40_000)
    least = Math.min(least, spent / runs)
  }
  return least
}
