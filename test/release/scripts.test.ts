// The scripts of package.json that change rarely and take long: working on it, releasing it, and what is in it.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, cpSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { useBrowser } from '../chromium.ts'
import { createFolder } from '../folders.ts'
import { until } from '../installation.ts'
import { freePort } from '../ports.ts'
import { testLong } from '../tier.ts'

const ROOT = join(import.meta.dirname, '../..')
const run = (cwd: string, command: string, ...args: string[]) =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 50_000_000 })

/** A copy of the tree, to be edited. */
function copyTree(): string {
  const folder = join(createFolder('dev'), 'tree')
  cpSync(ROOT, folder, { recursive: true, filter: (path) => !/[/](node_modules|\.git|release)$/.test(path) })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

function edit(file: string, from: string, to: string): void {
  const text = readFileSync(file, 'utf8')
  assert.ok(text.includes(from), `${file} has no ${from}`)
  writeFileSync(file, text.replace(from, to))
}

testLong('npm run dev shows a change of the dashboard at once, and one of the server after its restart', async () => {
  const port = await freePort()
  const tree = copyTree()
  const dataDir = createFolder('dev-data')
  const child = spawn('node', ['scripts/dev.ts'], {
    cwd: tree,
    env: { ...process.env, PORT: String(port), DATA_DIR: dataDir, DEMO: 'off', LOG_LEVEL: 'warn' },
    stdio: 'ignore',
  })
  const url = `http://127.0.0.1:${port}`
  const page = await (await useBrowser()).newPage()
  try {
    const description = async () => {
      const answer = await fetch(`${url}/openapi.json`).catch(() => null)
      return answer?.ok === true ? answer.text() : ''
    }
    await until(async () => (await description()).includes('"openapi"'), 120_000)
    await page.goto(`${url}/sign-in`)
    const email = page.getByLabel('Email address')
    await email.fill('typed@example.com', { timeout: 120_000 }) // Vite reads everything first
    edit(join(tree, 'web/dashboard/src/pages/sign-in.tsx'), 'title="Sign in"', 'title="Edited"')
    await page.getByRole('heading', { name: 'Edited' }).waitFor({ timeout: 60_000 })
    assert.equal(await email.inputValue(), 'typed@example.com', 'the page was not loaded anew')
    edit(join(tree, 'src/http/health.ts'), 'Liveness: ', 'Edited: ')
    await until(async () => (await description()).includes('Edited: '), 120_000)
  } finally {
    await page.close()
    child.kill('SIGTERM')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    // The embedded database ends with the last process that uses it.
    await until(() => !readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).some((name) => name.endsWith('postmaster.pid'))) // prettier-ignore
    for (const folder of [dataDir, join(tree, '..')]) rmSync(folder, { recursive: true, force: true })
  }
})

testLong('npm run sbom prints what is installed in production, as CycloneDX', async () => {
  type Bom = { bomFormat: string; metadata: { component: { name: string } }; components: { name: string }[] }
  const bom = JSON.parse(run(ROOT, 'npm', 'run', '--silent', 'sbom')) as Bom
  assert.deepEqual([bom.bomFormat, bom.metadata.component.name], ['CycloneDX', 'offerdeck'])
  const names = new Set(bom.components.map(({ name }) => name))
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<'dependencies' | 'devDependencies', object> // prettier-ignore
  assert.deepEqual(Object.keys(dependencies).filter((name) => !names.has(name)), []) // prettier-ignore
  assert.deepEqual(['oxlint', 'playwright-core', 'typescript'].filter((name) => names.has(name)), []) // prettier-ignore
  assert.ok('oxlint' in devDependencies)
})

testLong(
  'a release of a clone has its version, changelog, tarballs and tag, and leaves nothing uncommitted',
  async () => {
    const clone = join(createFolder('release'), 'clone')
    run(ROOT, 'git', 'clone', '--quiet', '--depth', '1', `file://${ROOT}`, clone)
    try {
      appendFileSync(join(clone, '.git/info/exclude'), 'node_modules\n') // .gitignore means folders, not links
      symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'))
      for (const folder of ['web/dist', 'dist']) cpSync(join(ROOT, folder), join(clone, folder), { recursive: true })
      run(clone, 'git', 'config', 'user.name', 'Release')
      run(clone, 'git', 'config', 'user.email', 'release@example.com')
      run(clone, 'node', 'scripts/release/run.ts', '9.8.7')
      assert.equal(run(clone, 'git', 'tag').trim(), 'v9.8.7')
      assert.equal(run(clone, 'git', 'rev-parse', 'v9.8.7'), run(clone, 'git', 'rev-parse', 'HEAD'))
      assert.equal(run(clone, 'git', 'log', '-1', '--format=%s').trim(), 'Release 9.8.7')
      assert.equal(run(clone, 'git', 'status', '--porcelain'), '')
      assert.match(
        readFileSync(join(clone, 'CHANGELOG.md'), 'utf8'),
        /^## Unreleased\n\n## 9\.8\.7 \(\d{4}-\d\d-\d\d\)\n\n- /m,
      )
      assert.deepEqual(readdirSync(join(clone, 'release')).filter((name) => name.endsWith('.tgz')).length, 2)
      assert.throws(() => run(clone, 'node', 'scripts/release/run.ts', 'soon'), /Say which version/)
    } finally {
      rmSync(join(clone, '..'), { recursive: true, force: true })
    }
  },
)
