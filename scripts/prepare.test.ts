import assert from 'node:assert/strict'
import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAllBuilt, isBuilt } from '../bin/built.js'
import { createFolder } from '../test/folders.ts'

const BUILT = ['dist/main.js', 'web/dist/index.html', ...['wall', 'sdk', 'locker', 'locker-embed'].map((name) => `web/dist/client/${name}.js`)] // prettier-ignore
const SOURCES = ['package-lock.json', 'src/app.ts', 'web/wall/main.ts', 'examples/page.php', 'scripts/licences.ts']
const A_YEAR_AGO = new Date(Date.now() - 31_536_000_000)

test('an install builds only what is older than its sources', async () => {
  const folder = createFolder('prepare')
  const write = async (...paths: string[]) => {
    for (const path of paths) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), '')
    }
    await sleep(20) // clocks of file systems are coarse
  }
  await write(...SOURCES)
  assert.equal(isAllBuilt(folder), false, 'a fresh clone')
  await write(...BUILT)
  await write('src/app.test.ts')
  assert.equal(isAllBuilt(folder), true, 'no test is built')
  for (const source of SOURCES) {
    await write(source)
    assert.equal(isAllBuilt(folder), false, source)
    assert.equal(isBuilt(folder), !/^(src|package)/.test(source), source)
    utimesSync(join(folder, source), A_YEAR_AGO, A_YEAR_AGO)
    assert.equal(isAllBuilt(folder), false, `${source}, from an archive`)
    await write(...BUILT)
    assert.equal(isAllBuilt(folder), true, source)
  }
  for (const built of BUILT) {
    utimesSync(join(folder, built), A_YEAR_AGO, A_YEAR_AGO)
    assert.equal(isAllBuilt(folder), false, built)
    await write(built)
  }
  assert.equal(isAllBuilt(folder), true)
  rmSync(join(folder, 'src/app.ts'))
  await write('src/http/examples.json')
  assert.equal(isBuilt(folder), true, 'a package has no sources')
})
