// The program on machines of the data centre: API nodes and workers, as they would be set there.
import { fileURLToPath } from 'node:url'
import { SECRET_KEY } from '../../world.ts'
import { urlsOf } from './database.ts'
import type { Machine, Network, Service } from './network.ts'
import { authorityFile } from './receivers.ts'
import { redisUrl } from './redis.ts'

const COMMAND = fileURLToPath(new URL('../../../bin/offerdeck.js', import.meta.url))
const PORT = 8080

export type Surroundings = { network: Network; balancer: Machine; databases: readonly Machine[] }

export const apiUrl = ({ address }: Machine) => `http://${address}:${PORT}`

export function serveNode(machine: Machine, part: 'api' | 'worker', around: Surroundings): Service {
  const urls = urlsOf(around.balancer)
  const env = {
    DATABASE_URL: urls.pooled,
    DATABASE_REPLICA_URL: urls.replica,
    PREPARED_STATEMENTS: 'off',
    REDIS_URL: redisUrl(around.databases),
    SECRET_KEY,
    HOST: '0.0.0.0',
    PORT: String(PORT),
    PUBLIC_URL: apiUrl(machine),
    DATA_DIR: `${machine.folder}/data`,
    POSTBACK_ALLOW: around.network.cidr,
    METRICS_PORT: '9464',
    METRICS_HOST: '0.0.0.0',
    DRAIN_SECONDS: '2',
    LOG_LEVEL: 'info',
    NODE_EXTRA_CA_CERTS: authorityFile(around.network),
    ...machine.movableClock,
  }
  return machine.serve(part, [process.execPath, COMMAND, 'serve', '--only', part], { env })
}

/** Whether it answers, and its database does. */
export async function isReady({ address }: Machine, part: 'api' | 'worker'): Promise<boolean> {
  const url = part === 'api' ? `${apiUrl({ address } as Machine)}/readyz` : `http://${address}:9464/healthz`
  const answer = await fetch(url, { signal: AbortSignal.timeout(2_000) }).catch(() => null)
  return answer?.status === 200 && (part === 'worker' || /"database":"ok"/.test(await answer.text()))
}
