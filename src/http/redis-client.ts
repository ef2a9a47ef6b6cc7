// A client of whatever REDIS_URL names: one server, several under Sentinel, or a cluster. It connects in the background, and
// again whenever the connection is lost; a command that finds none fails at once.
import { setTimeout as sleep } from 'node:timers/promises'
import type { RedisClientType } from 'redis'
import { readRedisAddress } from '../lib/redis-address.ts'

const RETRY_MS = 1_000
const SCAN_MS = 1_000

/** `client`: what the three kinds have in common, as far as it is used. */
export type Redis = {
  client: Pick<RedisClientType, 'eval' | 'isReady'>
  /** Resolves when it is connected for the first time. */
  connected: Promise<void>
  close: () => Promise<void>
}

export async function openRedis(url: string, onError: (error: Error) => void): Promise<Redis> {
  const { createClient, createCluster, createSentinel } = await import('redis') // it takes as long to load as everything else
  const address = readRedisAddress(url)
  if (address === null) throw new Error('REDIS_URL is not an address of Redis.')
  const { kind, isEncrypted, username, password, nodes, name } = address
  const options = {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    disableOfflineQueue: true,
    pingInterval: 300,
    socket: {
      ...(isEncrypted ? { tls: true as const } : {}),
      connectTimeout: 1_000,
      socketTimeout: 1_000,
      reconnectStrategy: (tries: number) => Math.min(50 * 2 ** tries, 1_000),
    },
  }
  const create = {
    server: () => createClient({ ...options, socket: { ...options.socket, ...nodes[0] }, database: Number(name) }),
    cluster: () =>
      createCluster({
        rootNodes: nodes.map((node) => ({ ...options, socket: { ...options.socket, ...node } })),
        defaults: options,
        topologyRefreshOnReconnectionAttemptStrategy: SCAN_MS,
      }),
    // Their password is that of the servers, for those who ask for one.
    sentinel: () =>
      createSentinel({
        name,
        sentinelRootNodes: nodes,
        nodeClientOptions: options,
        sentinelClientOptions: options,
        scanInterval: SCAN_MS,
        passthroughClientErrorEvents: true,
      }),
  }[kind]
  const client = create() as RedisClientType
  client.on('error', onError)
  const over = new AbortController()
  return {
    client,
    connected: connect(client, over.signal, onError),
    close: async () => {
      over.abort()
      if (client.isOpen) await Promise.resolve(client.destroy()) // Sentinel takes its time
    },
  }
}

/** A server's client retries by itself, the others stop when they find nothing at the start. */
async function connect(client: RedisClientType, over: AbortSignal, onError: (error: Error) => void): Promise<void> {
  while (!over.aborted) {
    try {
      await client.connect()
      return
    } catch (error) {
      if (over.aborted) return
      onError(error as Error)
      await sleep(RETRY_MS, undefined, { ref: false })
    }
  }
}
