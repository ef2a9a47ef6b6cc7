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
  const cost = costOf(() => work(small))
  return costOf(() => work(large)) / cost / 16
}
