import assert from 'node:assert/strict'
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { createFolder } from '../../../test/folders.ts'
import { buildMmdb } from '../../../test/mmdb.ts'
import { isPrefetch, openVisitorReader, type VisitorOptions } from './visitor.ts'

const folder = createFolder('visitor')
after(() => rmSync(folder, { recursive: true, force: true }))

const CHROME = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0'
const PIXEL = `Mozilla/5.0 (Linux; Android 14; Pixel 8) ${CHROME} Mobile Safari/537.36`
const PROXY = '10.0.0.1'
const CLIENT = '203.0.113.7'

function write(name: string, content: string | Buffer): string {
  const file = join(folder, name)
  writeFileSync(`${file}.new`, content)
  renameSync(`${file}.new`, file)
  return file
}

const geoipDb = write('countries.mmdb', buildMmdb({ '203.0.113.0/24': 'DE', '2001:db8::/32': 'FR' }))

async function openReader(options: Partial<VisitorOptions> = {}) {
  const warnings: string[] = []
  const log = { warn: (text: string) => void warnings.push(text), info: () => {} } as never
  const reader = await openVisitorReader({
    geoipDb: null,
    countryHeader: null,
    trustProxy: [],
    listedIps: null,
    ipAddresses: 'full',
    log,
    ...options,
  })
  after(() => reader.close())
  const read = (headers: IncomingHttpHeaders, ip = CLIENT, peer = ip) => reader.read({ ip, peer, headers })
  return { read, warnings, refresh: reader.refresh.bind(reader) }
}

const AGENTS: [name: string, agent: string, device: string | null, os: string | null, platform: string | null][] = [
  ['Android Chrome', PIXEL, 'mobile', 'android', 'android'],
  [
    'Android Chrome, reduced',
    `Mozilla/5.0 (Linux; Android 10; K) ${CHROME} Mobile Safari/537.36`,
    'mobile',
    'android',
    'android',
  ],
  [
    'Android tablet',
    `Mozilla/5.0 (Linux; Android 13; SM-X700) ${CHROME} Safari/537.36`,
    'tablet',
    'android',
    'android',
  ],
  [
    'Android web view',
    `Mozilla/5.0 (Linux; Android 13; SM-A536B; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/131.0.0.0 Mobile Safari/537.36`,
    'mobile',
    'android',
    'android',
  ],
  [
    'iPhone Safari',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1',
    'mobile',
    'ios',
    'ios',
  ],
  [
    'iPhone, in Facebook',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [FBAN/FBIOS;FBAV/440.0.0.29.115;FBDV/iPhone14,5;FBSN/iOS;FBSV/17.5]',
    'mobile',
    'ios',
    'ios',
  ],
  [
    'iPad',
    'Mozilla/5.0 (iPad; CPU OS 16_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.6 Mobile/15E148 Safari/604.1',
    'tablet',
    'ios',
    'ios',
  ],
  [
    'Windows',
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${CHROME} Safari/537.36 Edg/131.0.0.0`,
    'desktop',
    'windows',
    'web',
  ],
  [
    'macOS',
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15',
    'desktop',
    'macos',
    'web',
  ],
  ['Linux', 'Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0', 'desktop', 'linux', 'web'],
  ['Chrome OS', `Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${CHROME} Safari/537.36`, 'desktop', 'chromeos', 'web'],
  [
    'Samsung TV',
    'Mozilla/5.0 (SMART-TV; LINUX; Tizen 6.0) AppleWebKit/537.36 (KHTML, like Gecko) 76.0.3809.146/6.0 TV Safari/537.36',
    'tv',
    'tizen',
    null,
  ],
  [
    'LG TV',
    'Mozilla/5.0 (Web0S; Linux/SmartTV) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/94.0.4606.128 Safari/537.36 WebAppManager',
    'tv',
    'webos',
    null,
  ],
]

for (const [name, agent, device, os, platform] of AGENTS) {
  test(`${name} is ${device}, ${os} and ${platform ?? 'no platform of ours'}, and no bot`, async () => {
    const { read } = await openReader()
    const expected = { ip: CLIENT, country: null, device, os, platform, signals: [] }
    assert.deepEqual(read({ 'user-agent': agent }), expected)
    assert.deepEqual(read({ 'user-agent': agent }), expected, 'the same from the cache')
  })
}

test('crawlers, tools and unidentified clients count as bots', async () => {
  const { read } = await openReader()
  const bots: (string | undefined)[] = [
    'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
    `Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) ${CHROME} Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)`,
    'curl/8.5.0',
    'python-requests/2.32.0',
    '',
    '   ',
    undefined,
  ]
  for (const agent of bots) {
    const headers = agent === undefined ? {} : { 'user-agent': agent }
    assert.deepEqual(read(headers).signals, ['bot'], agent)
  }
  assert.deepEqual(read({}), { ip: CLIENT, country: null, device: null, os: null, platform: null, signals: ['bot'] })
})

test('a user agent of 10 kB is judged by its beginning, whatever it says', async () => {
  const { read } = await openReader()
  assert.equal(read({ 'user-agent': `${PIXEL} ${'x'.repeat(10_000)}` }).os, 'android')
  assert.equal(read({ 'user-agent': `${'x'.repeat(10_000)} ${PIXEL}` }).os, null)
  for (const piece of ['\u00ff', '(', 'mac os x 1', 'Version/1.', 'nexus ', '__proto__', '\u0000', 'constructor']) {
    const { device, os, platform } = read({ 'user-agent': piece.repeat(10_000 / piece.length) })
    assert.ok([null, 'mobile', 'tablet', 'desktop'].includes(device), piece)
    assert.deepEqual([os, platform], [null, null], piece)
  }
})

test('an IP address is stored in its plain form, and an invalid one is not', async () => {
  const { read } = await openReader()
  const plain = (ip: string) => read({ 'user-agent': PIXEL }, ip).ip
  assert.equal(plain('::ffff:203.0.113.7'), CLIENT)
  assert.equal(plain('2001:DB8:0::1'), '2001:db8::1')
  assert.deepEqual(['', 'unknown', '203.0.113.7:443', '203.0.113'].map(plain), [null, null, null, null])
})

test('the country comes from the file, for IPv4, IPv6 and IPv4 written as IPv6', async () => {
  const { read } = await openReader({ geoipDb })
  const country = (ip: string) => read({ 'user-agent': PIXEL }, ip).country
  assert.deepEqual([CLIENT, `::ffff:${CLIENT}`, '2001:db8::1'].map(country), ['DE', 'DE', 'FR'])
  assert.deepEqual(['198.51.100.1', '2001:db9::1', 'unknown'].map(country), [null, null, null])
})

test('the header with the country is believed from a trusted proxy only, and then before the file', async () => {
  const { read } = await openReader({
    geoipDb,
    countryHeader: 'CF-IPCountry',
    trustProxy: ['10.0.0.0/8', '2001:db8:f::1'],
  })
  const country = (peer: string, code: string) => read({ 'cf-ipcountry': code }, CLIENT, peer).country
  for (const peer of [PROXY, `::ffff:${PROXY}`, '2001:db8:f:0::1']) assert.equal(country(peer, 'BR'), 'BR', peer)
  for (const peer of [CLIENT, '11.0.0.1', '2001:db8:f::2', '']) assert.equal(country(peer, 'BR'), 'DE', peer)
  assert.equal(country(PROXY, 'br'), 'BR')
  for (const unknown of ['XX', 'T1', '', 'BR, US', 'Brazil']) assert.equal(country(PROXY, unknown), 'DE', unknown)
  assert.equal(read({}, CLIENT, PROXY).country, 'DE')
  assert.equal(read({ 'cf-ipcountry': 'BR' }, 'unknown', PROXY).country, 'BR')
})

test('a header that was not asked for says nothing', async () => {
  const { read } = await openReader({ geoipDb, trustProxy: ['10.0.0.0/8'] })
  assert.equal(read({ 'cf-ipcountry': 'BR' }, CLIENT, PROXY).country, 'DE')
})

test('a listed IP address is a signal, and bad lines are logged once', async () => {
  const listedIps = write('some.txt', '# rented servers\n203.0.113.0/29\nbad\n2001:db8::/32\nworse\n')
  const { read, warnings, refresh } = await openReader({ listedIps })
  const signals = (ip: string) => read({ 'user-agent': PIXEL }, ip).signals
  for (const ip of [CLIENT, `::ffff:${CLIENT}`, '2001:db8::5']) assert.deepEqual(signals(ip), ['listed_ip'], ip)
  for (const ip of ['203.0.113.8', '2001:db9::5', 'unknown']) assert.deepEqual(signals(ip), [], ip)
  assert.deepEqual(read({}, CLIENT).signals, ['bot', 'listed_ip'])
  await refresh()
  assert.equal(warnings.length, 1)
  assert.match(warnings[0] ?? '', /^LISTED_IPS has 2 bad lines, which are left out\. Line 3: "bad" .* Line 5: "worse" /)
})

test('a list that changes is read again, and one that breaks leaves the one before in force', async () => {
  const listedIps = write('changing.txt', '203.0.113.7\n')
  const { read, warnings, refresh } = await openReader({ listedIps })
  const isListed = (ip: string) => read({ 'user-agent': PIXEL }, ip).signals.includes('listed_ip')
  assert.deepEqual([CLIENT, '198.51.100.1'].map(isListed), [true, false])
  write('changing.txt', '198.51.100.1\n')
  await refresh()
  assert.deepEqual([CLIENT, '198.51.100.1'].map(isListed), [false, true])
  for (const [i, change] of [() => write('changing.txt', '<html>'), () => rmSync(listedIps)].entries()) {
    change()
    for (const _ of ['once', 'twice']) await refresh()
    assert.equal(isListed('198.51.100.1'), true)
    assert.equal(warnings.length, i + 1)
  }
  write('changing.txt', '')
  await refresh()
  assert.equal(isListed('198.51.100.1'), false)
})

test('a list or a database that cannot be read stops the start with advice', async () => {
  const missing = join(folder, 'missing')
  const noList = write('page.html', '<html>\n<body>\n')
  for (const listedIps of [missing, noList]) {
    await assert.rejects(openReader({ geoipDb, listedIps }), {
      name: 'OperatorError',
      message: /^LISTED_IPS names .* Give LISTED_IPS a text file with one address or CIDR a line/,
    })
  }
  await assert.rejects(openReader({ geoipDb: missing }), { name: 'OperatorError', message: /^GEOIP_DB names .*ENOENT/ })
})

test('a prefetching browser says so in one of four headers', () => {
  const ahead: IncomingHttpHeaders[] = [
    { 'sec-purpose': 'prefetch' },
    { 'sec-purpose': 'prefetch;prerender' },
    { 'sec-purpose': 'prefetch;anonymous-client-ip' },
    { purpose: 'prefetch' },
    { 'x-purpose': 'preview' },
    { 'x-moz': 'Prefetch' },
  ]
  for (const headers of ahead) assert.equal(isPrefetch(headers), true, JSON.stringify(headers))
  for (const headers of [{}, { purpose: '' }, { 'sec-purpose': 'navigate' }, { 'user-agent': 'prefetch' }]) {
    assert.equal(isPrefetch(headers), false, JSON.stringify(headers))
  }
})
