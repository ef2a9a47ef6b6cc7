// Where Redis is: one server, those who watch over several (Sentinel), or a cluster.
//
//   redis://user:password@host:6379
//   redis+sentinel://user:password@host:26379,host:26379/name
//   redis+cluster://user:password@host:6379,host:6379
//
// With rediss in place of redis, connections are encrypted.

export type RedisAddress = {
  kind: 'server' | 'sentinel' | 'cluster'
  isEncrypted: boolean
  username?: string
  password?: string
  nodes: { host: string; port: number }[]
  /** The database of a server, or the name that Sentinel knows the servers by. */
  name: string
}

const DEFAULT_PORTS = { server: 6379, sentinel: 26_379, cluster: 6379 }
const ADDRESS = /^redis(s?)(?:\+(sentinel|cluster))?:\/\/(?:([^:@/]*)(?::([^@/]*))?@)?([^@/?#]+?)(?:\/([\w.-]*))?$/
const NODE = /^(\[[0-9a-f:.]+\]|[\w.-]+)(?::(\d{1,5}))?$/i

/** Null: not an address. */
export function readRedisAddress(text: string): RedisAddress | null {
  const [, s, kind = 'server', username, password, hosts = '', name = ''] = ADDRESS.exec(text) ?? []
  const nodes = hosts.split(',').map((host) => readNode(host, DEFAULT_PORTS[kind as RedisAddress['kind']]))
  if (nodes.some((node) => node === null)) return null
  if (kind === 'server' ? nodes.length !== 1 || !/^\d*$/.test(name) : (name === '') === (kind === 'sentinel'))
    return null
  return {
    kind: kind as RedisAddress['kind'],
    isEncrypted: s === 's',
    ...(username ? { username: decode(username) } : {}),
    ...(password ? { password: decode(password) } : {}),
    nodes: nodes as RedisAddress['nodes'],
    name,
  }
}

function readNode(text: string, defaultPort: number): { host: string; port: number } | null {
  const [, host, port = String(defaultPort)] = NODE.exec(text) ?? []
  if (host === undefined || Number(port) < 1 || Number(port) > 65_535) return null
  return { host: host.replaceAll(/[[\]]/g, ''), port: Number(port) }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
