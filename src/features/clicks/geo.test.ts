import assert from 'node:assert/strict'
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { buildMmdb } from '../../../test/mmdb.ts'
import { createFolder } from '../../../test/folders.ts'
import { OperatorError } from '../../errors.ts'
import { openCountryFinder } from './geo.ts'

const folder = createFolder('geo')
after(() => rmSync(folder, { recursive: true, force: true }))

const NETWORKS = {
  '1.2.0.0/16': 'AT',
  '1.2.3.0/24': 'DE',
  '5.0.0.0/8': { registered_country: { iso_code: 'NL' } },
  '6.0.0.0/8': { country: { iso_code: 'ZZ' }, registered_country: { iso_code: 'US' } },
  '7.0.0.0/8': 'XX',
  '2001:db8::/32': 'FR',
}

function writeDb(name: string, content: string | Buffer): string {
  const file = join(folder, name)
  writeFileSync(`${file}.new`, content)
  renameSync(`${file}.new`, file) // as one replaces a file that is in use
  return file
}

function listen() {
  const warnings: string[] = []
  const infos: string[] = []
  const log = { warn: (text: string) => void warnings.push(text), info: (text: string) => void infos.push(text) }
  return { warnings, infos, log: log as never }
}

test('a country is found for IPv4, IPv6 and IPv4 written as IPv6', async () => {
  const finder = await openCountryFinder({ file: writeDb('found.mmdb', buildMmdb(NETWORKS)), log: listen().log })
  const expected: Record<string, string | null> = {
    '1.2.3.0': 'DE',
    '1.2.3.255': 'DE',
    '1.2.4.0': 'AT',
    '::ffff:1.2.3.4': 'DE',
    '2001:db8:ffff::1': 'FR',
    '2001:db9::1': null,
    '8.8.8.8': null,
    'not an address': null,
    '': null,
  }
  for (const round of ['asked first', 'asked again']) {
    for (const [ip, country] of Object.entries(expected)) assert.equal(finder.find(ip), country, `${ip} ${round}`)
  }
  finder.close()
})

test('the country of registration stands in for one that is not known, and only assigned codes count', async () => {
  const finder = await openCountryFinder({ file: writeDb('codes.mmdb', buildMmdb(NETWORKS)), log: listen().log })
  assert.deepEqual(
    ['5.5.5.5', '6.6.6.6', '7.7.7.7'].map((ip) => finder.find(ip)),
    ['NL', 'US', null],
  )
  finder.close()
})

test('a file of IPv4 only says nothing about IPv6', async () => {
  const content = buildMmdb({ '32.0.0.0/8': 'DE' }, { ipVersion: 4 })
  const finder = await openCountryFinder({ file: writeDb('v4.mmdb', content), log: listen().log })
  assert.deepEqual([finder.find('32.1.13.184'), finder.find('2001:db8::1')], ['DE', null]) // 0x20 = 32
  finder.close()
})

test('an IP address whose record is broken has no country, and the others have theirs', async () => {
  const content = buildMmdb({ '1.2.3.0/24': 'DE', '1.2.4.0/24': 'FR' })
  content.writeUInt16BE(0, content.indexOf('country') - 2) // the beginning of the first record
  const finder = await openCountryFinder({ file: writeDb('record.mmdb', content), log: listen().log })
  assert.deepEqual([finder.find('1.2.3.4'), finder.find('1.2.4.4')], [null, 'FR'])
  finder.close()
})

test('without a file no country is known', async () => {
  const finder = await openCountryFinder({ file: null, log: listen().log })
  assert.equal(finder.find('1.2.3.4'), null)
  await finder.refresh()
  finder.close()
})

test('a replaced file is read again, even for addresses looked up before', async () => {
  const { log, warnings, infos } = listen()
  const file = writeDb('changing.mmdb', buildMmdb({ '1.2.3.0/24': 'DE', '4.0.0.0/8': 'IT' }))
  const finder = await openCountryFinder({ file, log })
  assert.deepEqual([finder.find('1.2.3.4'), finder.find('4.4.4.4')], ['DE', 'IT'])
  await finder.refresh()
  assert.equal(infos.length, 0)
  writeDb('changing.mmdb', buildMmdb({ '1.2.3.0/24': 'PL' }))
  await finder.refresh()
  assert.deepEqual([finder.find('1.2.3.4'), finder.find('4.4.4.4')], ['PL', null])
  assert.deepEqual([warnings.length, infos.length], [0, 1])
  finder.close()
})

test('the file is looked at every minute', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { log } = listen()
  const file = writeDb('watched.mmdb', buildMmdb({ '1.2.3.0/24': 'DE' }))
  const toldOfChange = new Promise((resolve) => Object.assign(log, { info: resolve }))
  const finder = await openCountryFinder({ file, log })
  writeDb('watched.mmdb', buildMmdb({ '1.2.3.0/24': 'PL' }))
  t.mock.timers.tick(60_000)
  await toldOfChange
  assert.equal(finder.find('1.2.3.4'), 'PL')
  finder.close()
})

test('a file that breaks or goes away later leaves the countries as they were, with one warning each', async () => {
  const { log, warnings } = listen()
  const whole = buildMmdb({ '1.2.3.0/24': 'DE' })
  const file = writeDb('breaking.mmdb', whole)
  const finder = await openCountryFinder({ file, log })
  const later = [
    () => writeDb('breaking.mmdb', 'no database'),
    () => writeDb('breaking.mmdb', whole.subarray(0, whole.length / 2)),
    () => writeDb('breaking.mmdb', ''),
    () => rmSync(file),
  ]
  for (const [i, change] of later.entries()) {
    change()
    for (const _ of ['once', 'twice']) await finder.refresh()
    assert.equal(finder.find('1.2.3.4'), 'DE')
    assert.equal(finder.find('1.2.3.99'), 'DE', 'not only from the cache')
    assert.equal(warnings.length, i + 1)
    assert.match(warnings[i] ?? '', /GEOIP_DB names .*breaking\.mmdb.*What was read before stays in force/)
  }
  writeDb('breaking.mmdb', buildMmdb({ '1.2.3.0/24': 'PL' }))
  await finder.refresh()
  assert.equal(finder.find('1.2.3.4'), 'PL')
  rmSync(file)
  await finder.refresh()
  assert.equal(warnings.length, later.length + 1, 'gone once more')
  finder.close()
})

test('a file that is missing, broken, compressed or about something else stops the start with advice', async () => {
  const asn = { '1.0.0.0/8': { autonomous_system_number: 64_496 } }
  const files = {
    missing: join(folder, 'missing.mmdb'),
    folder,
    broken: writeDb('broken.mmdb', 'no database'),
    empty: writeDb('empty.mmdb', ''),
    compressed: writeDb('compressed.mmdb', Buffer.from('1f8b0800000000000003', 'hex')),
    other: writeDb('asn.mmdb', buildMmdb(asn, { kind: 'GeoLite2-ASN' })),
  }
  for (const [kind, file] of Object.entries(files)) {
    await assert.rejects(openCountryFinder({ file, log: listen().log }), (error: Error) => {
      assert.ok(error instanceof OperatorError, kind)
      assert.ok(error.message.startsWith(`GEOIP_DB names ${file}, which cannot be used: `), error.message)
      assert.match(error.message, /Give GEOIP_DB a MaxMind DB file with countries/)
      return true
    })
  }
  await assert.rejects(openCountryFinder({ file: files.other, log: listen().log }), /no countries .*GeoLite2-ASN/)
})
