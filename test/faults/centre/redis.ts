// Three Redis servers, and a Sentinel beside each.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Machine, Service } from './network.ts'

const NAME = 'offers'
const PORTS = { redis: 6379, sentinel: 26_379 }

export function serveRedis(machines: readonly Machine[]): Service[] {
  const [first] = machines as [Machine, ...Machine[]]
  return machines.flatMap((machine, i) => {
    // Files, because Sentinel writes there who follows whom.
    const redis = join(machine.folder, 'redis.conf')
    const common = `bind ${machine.address}\nprotected-mode no\ndir ${machine.folder}\n`
    const follows = i === 0 ? '' : `replicaof ${first.address} ${PORTS.redis}\n`
    writeFileSync(redis, `${common}port ${PORTS.redis}\nsave ""\nappendonly no\n${follows}`)
    const sentinel = join(machine.folder, 'sentinel.conf')
    const watch = [`monitor ${NAME} ${first.address} ${PORTS.redis} 2`, `down-after-milliseconds ${NAME} 2000`, `failover-timeout ${NAME} 6000`] // prettier-ignore
    writeFileSync(sentinel, `${common}port ${PORTS.sentinel}\n${watch.map((line) => `sentinel ${line}\n`).join('')}`)
    return [
      machine.serve('redis', ['redis-server', redis]),
      machine.serve('sentinel', ['redis-server', sentinel, '--sentinel']),
    ]
  })
}

export const redisUrl = (machines: readonly Machine[]) =>
  `redis+sentinel://${machines.map(({ address }) => `${address}:${PORTS.sentinel}`).join(',')}/${NAME}`
