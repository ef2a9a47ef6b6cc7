/** It took longer than its caller waits. It goes on nevertheless. */
export class TooLate extends Error {}

/** The result of the work, or `TooLate`. */
export function inTime<T>(work: Promise<T>, patienceMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new TooLate(`No answer within ${patienceMs} ms.`)), patienceMs)
    work.finally(() => clearTimeout(timer)).then(resolve, reject)
  })
}
