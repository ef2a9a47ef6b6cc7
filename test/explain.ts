// What the statements of an app cost, in pages of 8 kB: PostgreSQL's auto_explain logs the plan of each as it ran.
import assert from 'node:assert/strict'
import { type Db, openPool } from '../src/db/open.ts'
import type { App } from '../src/app.ts'
import { adminQuery } from './databases.ts'
import { type World } from './world.ts'

type PlanNode = {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Rows Removed by Filter'?: number
  'Actual Loops'?: number
  'Shared Hit Blocks'?: number
  'Shared Read Blocks'?: number
  Plans?: PlanNode[]
}
export type Explained = { text: string; pages: number; nodes: PlanNode[] }

export type ExplainedApp = {
  app: App
  db: Db
  /** All statements that ran while this was done, those of the app's own loops included. */
  explain(work: () => Promise<unknown>): Promise<Explained[]>
  close(): Promise<void>
}

/** Few, so that all have filled their caches soon. */
const CONNECTIONS = 4
const ATTEMPTS = 6

/** Another process of the world, whose statements are explained. */
export async function startExplained(world: World): Promise<ExplainedApp> {
  const name = world.databaseName
  const settings = {
    session_preload_libraries: 'auto_explain',
    'auto_explain.log_min_duration': 0,
    'auto_explain.log_analyze': 'on',
    'auto_explain.log_buffers': 'on',
    'auto_explain.log_format': 'json',
    'auto_explain.log_nested_statements': 'on',
    'auto_explain.log_level': 'notice',
  }
  for (const [setting, value] of Object.entries(settings))
    await adminQuery(`ALTER DATABASE ${name} SET ${setting} = ${value}`)
  let explained: Explained[] = []
  const { pool, ...rest } = openPool(world.connection(name), CONNECTIONS)
  pool.on('connect', (client) =>
    client.on('notice', ({ message = '' }) => {
      const [, json] = /^duration: [\d.]+ ms {2}plan:\n(.*)$/s.exec(message) ?? []
      if (json === undefined) return
      const { 'Query Text': text, Plan: plan } = JSON.parse(json) as { 'Query Text': string; Plan: PlanNode }
      explained.push({ text, pages: pagesIn(plan), nodes: nodesOf(plan) })
    }),
  )
  const app = await world.start({}, { ...rest, pool, embeddedIn: null, revive: async () => {} })
  return {
    app,
    db: rest.db,
    async explain(work) {
      explained = []
      await work()
      return explained
    },
    async close() {
      await app.close()
      await rest.close()
    },
  }
}

const nodesOf = (plan: PlanNode): PlanNode[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]

/** Of this node and those below it. */
export const pagesIn = (plan: PlanNode) => (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0)

export const pagesOf = (explained: readonly Explained[]) => explained.reduce((sum, { pages }) => sum + pages, 0)

/** How many rows were looked at that were not wanted. */
export const wastedRows = (explained: readonly Explained[]) =>
  explained
    .flatMap(({ nodes }) => nodes)
    .reduce((sum, node) => sum + (node['Rows Removed by Filter'] ?? 0) * (node['Actual Loops'] ?? 1), 0)

export type Cost = { pages: number; dearest: string }

export function assertBelow(most: number, what: string, { pages, dearest }: Cost): void {
  assert.ok(pages > 0, `${what} reads nothing: it was not measured`)
  assert.ok(pages < most, `${what} reads ${pages} pages:\n${dearest}`)
}

// What loops of the app do by themselves is not what a request costs.
const LOOPS = /^$|SELECT DISTINCT app_id, user_id|waiting_events|pg_snapshot|nodes|credential_uses/

/** The fewest pages of a few attempts: the first ones fill caches of the connection, and others come between. */
export async function readCost(
  explained: ExplainedApp,
  work: (attempt: number) => Promise<unknown>,
  isMeant = ({ text }: Explained) => !LOOPS.test(text),
) {
  const costs: Cost[] = []
  for (let i = 0; i < ATTEMPTS; i++) {
    const statements = (await explained.explain(() => work(i))).filter(isMeant)
    const byPages = statements.toSorted((a, b) => b.pages - a.pages).slice(0, 5)
    costs.push({
      pages: pagesOf(statements),
      dearest: byPages.map(({ pages, text }) => `${pages}: ${text.replaceAll(/\s+/g, ' ').slice(0, 160)}`).join('\n'),
    })
  }
  return costs.slice(1).reduce((least, one) => (one.pages < least.pages ? one : least))
}

export type CostArguments = Parameters<typeof readCost> extends [ExplainedApp, ...infer Rest] ? Rest : never
