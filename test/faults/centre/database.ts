// PostgreSQL as those run it who must not lose it: three servers under Patroni, which agrees by etcd on who is the primary;
// HAProxy leads to that one, and PgBouncer shares the connections.
import { chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { until } from '../../installation.ts'
import { findBinaries, findOwner } from '../../postgres-server.ts'
import type { Machine, Service } from './network.ts'

const CLUSTER = 'offers'
const NAME = 'offerdeck'
const PORTS = { etcd: 2379, peers: 2380, patroni: 8008, postgres: 5432, primary: 5000, replicas: 5001, pooler: 6432 }

/** Owned by PostgreSQL's user. */
function createFolderFor(machine: Machine, name: string): string {
  const folder = join(machine.folder, name)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const { uid, gid } = findOwner()
  if (uid !== undefined) chownSync(folder, uid, gid)
  return folder
}

export function serveEtcd(machines: readonly Machine[]): Service[] {
  const cluster = machines.map(({ name, address }) => `${name}=http://${address}:${PORTS.peers}`).join(',')
  return machines.map((machine) => {
    const { name, address } = machine
    const [peer, client] = [`http://${address}:${PORTS.peers}`, `http://${address}:${PORTS.etcd}`]
    const options = {
      name,
      'data-dir': join(machine.folder, 'etcd'),
      'listen-peer-urls': peer,
      'initial-advertise-peer-urls': peer,
      'listen-client-urls': client,
      'advertise-client-urls': client,
      'initial-cluster': cluster,
      'enable-v2': 'true',
    }
    return machine.serve('etcd', ['etcd', ...Object.entries(options).map(([key, value]) => `--${key}=${value}`)])
  })
}

/** A commit is acknowledged when a second server has it. */
export function servePatroni(machines: readonly Machine[]): Service[] {
  return machines.map((machine) => {
    const home = createFolderFor(machine, 'postgres')
    const { name, address } = machine
    const settings = {
      scope: CLUSTER,
      name,
      restapi: { listen: `${address}:${PORTS.patroni}`, connect_address: `${address}:${PORTS.patroni}` },
      etcd3: { hosts: machines.map((one) => `${one.address}:${PORTS.etcd}`) },
      bootstrap: {
        dcs: {
          ttl: 20,
          loop_wait: 2,
          retry_timeout: 5,
          maximum_lag_on_failover: 1_048_576,
          master_start_timeout: 5,
          synchronous_mode: true,
          postgresql: {
            use_pg_rewind: true,
            parameters: { max_connections: 100, max_locks_per_transaction: 512, shared_buffers: '64MB', wal_keep_size: '512MB', hot_standby_feedback: 'on' }, // prettier-ignore
          },
        },
        initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums'],
      },
      postgresql: {
        listen: `${address}:${PORTS.postgres}`,
        connect_address: `${address}:${PORTS.postgres}`,
        data_dir: join(home, 'data'),
        bin_dir: findBinaries(),
        pgpass: join(home, 'pgpass'),
        parameters: { unix_socket_directories: home },
        pg_hba: ['host all all 0.0.0.0/0 trust', 'host replication all 0.0.0.0/0 trust', 'local all all trust'],
        authentication: { superuser: { username: 'postgres' }, replication: { username: 'replicator' } },
      },
    }
    const file = join(home, 'patroni.yml')
    writeFileSync(file, JSON.stringify(settings)) // JSON is YAML
    return machine.serve('patroni', ['patroni', file], { user: 'postgres' })
  })
}

/** To the primary at one port, to replicas at another; Patroni says which is which. */
export function serveHaproxy(machine: Machine, servers: readonly Machine[]): Service {
  const check = 'check port 8008 inter 500 fall 2 rise 1 on-marked-down shutdown-sessions'
  const lines = servers.map(({ name, address }) => `  server ${name} ${address}:${PORTS.postgres} ${check}`).join('\n')
  const file = join(machine.folder, 'haproxy.cfg')
  const section = (name: string, port: number, path: string) =>
    `listen ${name}\n  bind ${machine.address}:${port}\n  option httpchk OPTIONS ${path}\n  http-check expect status 200\n${lines}\n`
  writeFileSync(
    file,
    'defaults\n  mode tcp\n  timeout connect 2s\n  timeout client 1h\n  timeout server 1h\n  timeout check 2s\n' +
      section('primary', PORTS.primary, '/primary') +
      section('replicas', PORTS.replicas, '/replica'),
  )
  return machine.serve('haproxy', ['haproxy', '-db', '-f', file])
}

export function servePgBouncer(machine: Machine): Service {
  const folder = createFolderFor(machine, 'pgbouncer')
  const file = join(folder, 'pgbouncer.ini')
  const settings = { listen_addr: machine.address, listen_port: PORTS.pooler, unix_socket_dir: '', auth_type: 'any', pool_mode: 'transaction', default_pool_size: 40, max_client_conn: 500, server_login_retry: 1, query_wait_timeout: 10 } // prettier-ignore
  const lines = Object.entries(settings).map(([key, value]) => `${key} = ${value}\n`)
  const target = `host=${machine.address} port=${PORTS.primary} user=${NAME}`
  writeFileSync(file, `[databases]\n${NAME} = ${target}\n[pgbouncer]\n${lines.join('')}`)
  return machine.serve('pgbouncer', ['pgbouncer', '-q', file], { user: 'postgres' })
}

/** As the program is told of it: through the pooler, directly, and to a replica. */
export const urlsOf = ({ address }: Machine) => ({
  pooled: `postgres://${NAME}@${address}:${PORTS.pooler}/${NAME}`,
  direct: `postgres://${NAME}@${address}:${PORTS.primary}/${NAME}`,
  replica: `postgres://${NAME}@${address}:${PORTS.replicas}/${NAME}`,
})

/** Once there is a primary. */
export async function createDatabase({ address }: Machine): Promise<void> {
  const connection = { host: address, port: PORTS.primary, user: 'postgres', database: 'postgres', connectionTimeoutMillis: 2_000 } // prettier-ignore
  await until(async () => {
    const client = new pg.Client(connection)
    try {
      await client.connect()
      await client.query(`CREATE ROLE ${NAME} LOGIN`)
      await client.query(`CREATE DATABASE ${NAME} OWNER ${NAME}`)
      return true
    } catch {
      return false
    } finally {
      await client.end().catch(() => {})
    }
  }, 120_000)
}

/** The name of the machine whose server is the primary. */
export async function findPrimary(machines: readonly Machine[]): Promise<string | null> {
  for (const { name, address } of machines) {
    const answer = await fetch(`http://${address}:${PORTS.patroni}/primary`, { signal: AbortSignal.timeout(1_000) }).catch(() => null) // prettier-ignore
    if (answer?.status === 200) return name
  }
  return null
}
