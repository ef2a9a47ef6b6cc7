// The alert rules in the real Prometheus: silent while all is well, and firing when the database or a node is gone. And
// what the dashboard of Grafana asks it.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after } from 'node:test'
import { createFolder } from '../folders.ts'
import { Installation, until } from '../installation.ts'
import { freePort } from '../ports.ts'
import { testLong } from '../tier.ts'

const RULES = 'deploy/prometheus/alerts.yml'

type Panel = { title: string; targets?: { expr: string }[]; panels?: Panel[] }

const queriesOf = (panels: readonly Panel[]): string[] =>
  panels.flatMap(({ targets = [], panels: inner = [] }) => [...targets.map(({ expr }) => expr), ...queriesOf(inner)])

testLong('Prometheus can read every query of the dashboard', async () => {
  const { panels } = JSON.parse(readFileSync('deploy/grafana/offerdeck.json', 'utf8')) as { panels: Panel[] }
  // Grafana fills in its variables.
  const queries = queriesOf(panels).map((expr) => expr.replaceAll('$__rate_interval', '1m').replaceAll('$instance', '.*')) // prettier-ignore
  assert.ok(queries.length >= 20)
  const folder = createFolder('queries')
  const rules = queries.map((expr, i) => ({ record: `query_${i}`, expr }))
  writeFileSync(join(folder, 'rules.yml'), JSON.stringify({ groups: [{ name: 'dashboard', rules }] }))
  const checked = spawnSync('promtool', ['check', 'rules', join(folder, 'rules.yml')], { encoding: 'utf8' })
  rmSync(folder, { recursive: true })
  assert.equal(checked.status, 0, `${checked.stdout}${checked.stderr}`)
})

testLong('alerts are silent while all is well, and fire when the database or a node is gone', async () => {
  const checked = spawnSync('promtool', ['check', 'rules', RULES], { encoding: 'utf8' })
  assert.equal(checked.status, 0, checked.stderr)

  const program = new Installation()
  after(() => program.remove())
  const metricsPort = await freePort()
  const server = await program.serve({ METRICS_PORT: String(metricsPort) })
  const prometheus = await startPrometheus(metricsPort)
  after(() => prometheus.stop())
  await until(() => prometheus.isScraped())
  await until(async () => (await prometheus.firing()).length === 0) // before, there was no worker

  const processes = program.postgresProcesses()
  for (const pid of processes) process.kill(pid, 'SIGSTOP')
  await until(async () => (await prometheus.firing()).includes('OfferdeckDatabaseUnavailable'))
  assert.equal((await prometheus.firing()).includes('OfferdeckNodeDown'), false)
  for (const pid of processes) process.kill(pid, 'SIGCONT')
  await until(async () => (await prometheus.firing()).length === 0)

  await server.kill('SIGKILL')
  await until(async () => {
    const firing = await prometheus.firing()
    return firing.includes('OfferdeckNodeDown') && firing.includes('OfferdeckNoWorker')
  })
})

/** Reads and evaluates every second, and waits a second before it fires where the rules say minutes. */
async function startPrometheus(metricsPort: number) {
  const folder = createFolder('prometheus')
  const rules = readFileSync(RULES, 'utf8').replaceAll(/for: \d+[smh]/g, 'for: 1s')
  writeFileSync(join(folder, 'alerts.yml'), rules)
  const target = `127.0.0.1:${metricsPort}`
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: ['alerts.yml'],
    scrape_configs: [{ job_name: 'offerdeck', static_configs: [{ targets: [target] }] }],
  }
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(config)) // JSON is YAML
  const address = `127.0.0.1:${await freePort()}`
  const child = spawn(
    'prometheus',
    [`--config.file=${join(folder, 'prometheus.yml')}`, `--storage.tsdb.path=${join(folder, 'data')}`, `--web.listen-address=${address}`],
    { stdio: 'ignore' },
  ) // prettier-ignore
  const ended = once(child, 'exit')
  const ask = async <T>(path: string): Promise<T> =>
    ((await (await fetch(`http://${address}/api/v1/${path}`)).json()) as { data: T }).data
  return {
    isScraped: async () => {
      const query = `query?query=${encodeURIComponent('up{job="offerdeck"} == 1')}`
      return (await ask<{ result: unknown[] }>(query).catch(() => ({ result: [] }))).result.length === 1
    },
    firing: async () => {
      const { alerts } = await ask<{ alerts: { state: string; labels: { alertname: string } }[] }>('alerts')
      return alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname)
    },
    stop: async () => {
      child.kill('SIGKILL')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
