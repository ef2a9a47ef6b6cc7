import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { createFolder } from '../../test/folders.ts'
import { runModule } from '../../test/run-module.ts'
import { keepSecretFile } from './secret-file.ts'

const folder = createFolder('secret')
after(() => rmSync(folder, { recursive: true, force: true }))

test('processes that create a secret at the same time get the same one, readable by its owner only', async () => {
  const path = join(folder, 'secret')
  const go = join(folder, 'go')
  const makers = Array.from({ length: 4 }, () =>
    runModule(
      `import { keepSecretFile } from './secret-file.ts'
      import { existsSync } from 'node:fs'
      process.stdout.write('.')
      while (!existsSync(${JSON.stringify(go)}));
      process.stdout.write(keepSecretFile(${JSON.stringify(path)}))`,
      import.meta.url,
    ),
  )
  await Promise.all(makers.map((maker) => once(maker.stdout, 'data')))
  writeFileSync(go, '')
  const secrets = await Promise.all(makers.map((maker) => maker.output()))
  assert.deepEqual(new Set(secrets), new Set([`.${keepSecretFile(path)}`]))
  assert.equal(Buffer.from(keepSecretFile(path), 'base64url').length, 32)
  assert.equal(statSync(path).mode & 0o777, 0o600)
  assert.ok(!readdirSync(folder).some((name) => name.startsWith('secret.')))
})

test('a secret that cannot be read is not replaced', () => {
  assert.throws(() => keepSecretFile(join(folder, 'no', 'such', 'folder')), { code: 'ENOENT' })
  assert.throws(() => keepSecretFile(folder), { code: 'EISDIR' })
})

test('an empty or damaged file is refused, not used', () => {
  const path = join(folder, 'damaged')
  writeFileSync(path, '')
  assert.throws(() => keepSecretFile(path), /empty or damaged.*backup/)
})
