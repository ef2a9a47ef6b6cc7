// The whole of it: three machines with PostgreSQL, etcd and Redis, one that balances, two API nodes and two workers.
import {
  createDatabase,
  findPrimary,
  serveEtcd,
  serveHaproxy,
  servePatroni,
  servePgBouncer,
  urlsOf,
} from './database.ts'
import { until } from '../../installation.ts'
import { type Machine, Network } from './network.ts'
import { isReady, serveNode } from './nodes.ts'
import { serveRedis } from './redis.ts'

const PATIENCE_MS = 180_000

export class Centre {
  readonly network = new Network()
  readonly databases: Machine[]
  readonly balancer: Machine
  readonly apis: Machine[]
  readonly workers: Machine[]

  constructor() {
    const { network } = this
    this.databases = ['db1', 'db2', 'db3'].map((name) => network.add(name))
    this.balancer = network.add('lb')
    this.apis = ['api1', 'api2'].map((name) => network.add(name))
    this.workers = ['w1', 'w2'].map((name) => network.add(name))
  }

  /** Past the pooler, as migrations and commands go. */
  get databaseUrl(): string {
    return urlsOf(this.balancer).direct
  }

  async startDatabase(): Promise<void> {
    const { databases, balancer } = this
    const services = [...serveEtcd(databases), ...servePatroni(databases), ...serveRedis(databases), serveHaproxy(balancer, databases), servePgBouncer(balancer)] // prettier-ignore
    for (const service of services) service.start()
    await createDatabase(balancer)
  }

  async startNodes(): Promise<void> {
    for (const machine of this.apis) serveNode(machine, 'api', this).start()
    for (const machine of this.workers) serveNode(machine, 'worker', this).start()
    await this.isWhole()
  }

  /** Resolves when there is a primary, and every node works by itself again. */
  async isWhole(): Promise<void> {
    await until(async () => (await findPrimary(this.databases)) !== null, PATIENCE_MS)
    for (const machine of this.apis) await until(() => isReady(machine, 'api'), PATIENCE_MS)
    for (const machine of this.workers) await until(() => isReady(machine, 'worker'), PATIENCE_MS)
  }

  close(): Promise<void> {
    return this.network.close()
  }
}
