// What this process holds in memory, once garbage is collected.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

export function usedMegabytes(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  collect() // waits for the buffers that the first one frees on another thread, which count until then
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return (heapUsed + arrayBuffers) / 1_000_000
}
