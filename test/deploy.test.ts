// The files of deploy/: as far as they can be checked without Docker and Kubernetes, they agree with the program.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse, parseAllDocuments } from 'yaml'
import { loadConfig } from '../src/config.ts'
import { SETTINGS } from '../src/settings.ts'
import { createFolder } from './folders.ts'

const read = (path: string) => readFileSync(join('deploy', path), 'utf8')
const isSetting = (name: string) => name === 'NODE_ENV' || SETTINGS.some((setting) => setting.name === name)

type Service = {
  command?: string[]
  environment?: Record<string, string | number>
  volumes?: string[]
  healthcheck?: unknown
}
type Container = { args: string[]; ports: { name: string }[]; volumeMounts: { name: string }[] } & Record<string, { httpGet?: { path: string; port: string } }> // prettier-ignore
type Pod = { volumes: { name: string }[]; containers: Container[] }
type Resource = { kind: string; metadata: { name: string }; data?: Record<string, string>; spec: { template: { spec: Pod }; selector: { matchLabels: object }; volumeClaimTemplates?: { metadata: { name: string } }[] } } // prettier-ignore

test('the image is built from what is there, and its settings are those of the program', () => {
  const dockerfile = read('docker/Dockerfile')
  for (const [, sources = ''] of dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm))
    for (const source of sources.split(' ')) assert.ok(existsSync(source), source)
  const env = /^ENV (.+)$/m.exec(dockerfile)?.[1]?.split(' ') ?? []
  for (const one of env) assert.ok(isSetting(one.split('=')[0] ?? ''), one)
  assert.match(dockerfile, /^USER node$/m)
})

test('compose: every service has its own volume, and settings that the program accepts', () => {
  const { services, volumes } = parse(read('docker/compose.yml'), { merge: true }) as {
    services: Record<string, Service>
    volumes: Record<string, null>
  }
  const ours = Object.entries(services).filter(([, { command }]) => command?.[0] === 'serve')
  assert.deepEqual(ours.map(([name]) => name), ['api-1', 'api-2', 'worker-1', 'worker-2']) // prettier-ignore
  const example = Object.fromEntries(
    read('docker/.env.example').split('\n').filter((line) => /^\w+=/.test(line)).map((line) => line.split('=', 2)),
  ) as Record<string, string> // prettier-ignore
  const filled: Record<string, string> = { ...example, SECRET_KEY: 'k'.repeat(64), POSTGRES_PASSWORD: 'secret' }
  for (const [name, { environment = {}, volumes: mounted = [] }] of ours) {
    assert.deepEqual(mounted, [`${name}:/data`])
    assert.ok(name in volumes)
    for (const setting of Object.keys(environment)) assert.ok(isSetting(setting), setting)
    const env = Object.entries(environment).map(([key, value]) => [
      key,
      String(value).replaceAll(/\$\{(\w+)(?::[?-])?\}/g, (_, variable: string) => {
        assert.ok(variable in example, `${variable} is not in .env.example`)
        return filled[variable] ?? ''
      }),
    ])
    const config = loadConfig({ NODE_ENV: 'production', HOST: '0.0.0.0', ...Object.fromEntries(env) })
    assert.equal(config.databaseUrl, 'postgres://offerdeck:secret@postgres/offerdeck')
  }
})

test('Kubernetes: probes ask ports that there are, volumes that are mounted exist, and settings are known', () => {
  const resources = parseAllDocuments(read('kubernetes/offerdeck.yaml')).map((document) => document.toJS() as Resource)
  const [config] = resources.filter(({ kind }) => kind === 'ConfigMap')
  for (const setting of Object.keys(config?.data ?? {})) assert.ok(isSetting(setting), setting)
  loadConfig({ NODE_ENV: 'production', HOST: '0.0.0.0', ...config?.data })
  const pods = resources.filter(({ kind }) => kind === 'StatefulSet' || kind === 'Deployment')
  assert.equal(pods.length, 2)
  for (const { spec } of pods) {
    const { containers, volumes } = spec.template.spec
    const claimed = (spec.volumeClaimTemplates ?? []).map(({ metadata }) => metadata.name)
    for (const container of containers) {
      const ports = container.ports.map(({ name }) => name)
      for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'])
        if (container[probe] !== undefined) assert.ok(ports.includes(container[probe].httpGet?.port ?? ''), probe)
      for (const { name } of container.volumeMounts)
        assert.ok([...claimed, ...volumes.map((volume) => volume.name)].includes(name), name)
    }
  }
})

test('systemd takes the unit', () => {
  const unit = read('systemd/offerdeck.service')
  for (const [, settings = ''] of unit.matchAll(/^Environment=(.+)$/gm))
    for (const one of settings.split(' ')) assert.ok(isSetting(one.split('=')[0] ?? ''), one)
  const folder = createFolder('systemd')
  const file = join(folder, 'offerdeck.service')
  writeFileSync(file, unit.replace('/usr/bin/node', process.execPath))
  const { status, stderr, error } = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' })
  rmSync(folder, { recursive: true })
  if (error === undefined) assert.equal(status, 0, stderr) // a machine without systemd cannot say
})
