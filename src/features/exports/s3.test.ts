import assert from 'node:assert/strict'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { createFolder } from '../../../test/folders.ts'
import { assertComplete, exportEverything } from '../../../test/exported.ts'
import { addClicks } from '../../../test/seed-rows.ts'
import { S3_KEYS, S3Server } from '../../../test/s3-server.ts'
import { useWorld } from '../../../test/world.ts'
import { createS3Target } from './s3.ts'
import { readExports } from './status.ts'

const storage = new S3Server()
const folder = createFolder('s3')
before(() => storage.open())
after(async () => {
  await storage.close()
  rmSync(folder, { recursive: true, force: true })
})
const world = useWorld('s3')

const PATIENCE_MS = 1_000
const targetWith = (more: object = {}) =>
  createS3Target(
    { bucket: 'exports', prefix: 'offers/raw', endpoint: storage.url, region: 'eu-central-1', ...S3_KEYS, ...more },
    PATIENCE_MS,
  )

async function exportTo(target = targetWith()) {
  const { db } = world.database
  await exportEverything({ db, target, intervalSeconds: 60, warn: () => {} })
  const [clicks] = await readExports(db, target.url)
  return clicks
}

/** What is in the bucket, as files. */
async function assertStored(): Promise<void> {
  for (const [key, content] of storage.objects) {
    const file = join(folder, key)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content)
  }
  await assertComplete(world.database.db, join(folder, 'exports/offers/raw'))
}

const addClick = () => addClicks(world.database.db, { at: new Date().toISOString(), appId: 1, offerId: 1 })

test('files and manifests are put below the prefix, signed, and whole', async () => {
  await addClick()
  assert.equal((await exportTo())?.failure, null)
  const names = [...storage.objects.keys()].map((key) => key.replace(/clicks-.*/, 'clicks-'))
  const day = new Date().toISOString().slice(0, 10)
  assert.deepEqual(names, [`exports/offers/raw/clicks/day=${day}/clicks-`, 'exports/offers/raw/manifest/clicks/00000001.ndjson']) // prettier-ignore
  await assertStored()
})

test('a wrong secret, a wrong key and storage that fails, is cut off or silent: each is said, and nothing is lost', async () => {
  const failures: [expected: RegExp, work: () => ReturnType<typeof exportTo>][] = [
    [/403/, () => exportTo(targetWith({ secretAccessKey: 'another' }))],
    [/403/, () => exportTo(targetWith({ accessKeyId: 'another' }))],
    [/503/, () => ((storage.mood = 'unavailable'), exportTo())],
    [/fetch failed: (other side closed|read ECONNRESET)|terminated/, () => ((storage.mood = 'cut'), exportTo())],
    [/timeout/, () => ((storage.mood = 'silent'), exportTo())],
  ]
  for (const [expected, work] of failures) {
    await addClick()
    assert.match((await work())?.failure ?? '', expected)
    storage.mood = 'works'
  }
  assert.deepEqual((await exportTo())?.failures, 0)
  await assertStored()
})

test('what the storage says is in the failure', async () => {
  storage.mood = 'unavailable'
  const target = targetWith()
  await assert.rejects(
    target.put('x', Buffer.from('x')),
    /the storage answered 503 \(SlowDown: Please reduce your request rate.\)/,
  )
  storage.mood = 'works'
  const other = targetWith({ secretAccessKey: 'another' })
  await assert.rejects(other.put('x', Buffer.from('x')), /the storage answered 403 \(SignatureDoesNotMatch: /)
})

test('a worker that stops does not wait for storage that is silent', async () => {
  storage.mood = 'silent'
  const target = createS3Target({
    bucket: 'exports',
    prefix: '',
    endpoint: storage.url,
    region: 'eu-central-1',
    ...S3_KEYS,
  })
  const put = assert.rejects(target.put('x', Buffer.from('x')), /the worker is stopping/)
  target.close()
  await put
  storage.mood = 'works'
})
