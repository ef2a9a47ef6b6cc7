// Parsers of bytes that anyone can send: twice as many of them may take about twice the work, not four times. One
// request must not block a process.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import type { InjectOptions } from 'fastify'
import type { App } from '../src/app.ts'
import type { IssuedCredentials } from '../src/features/apps/keys.ts'
import { fillDestination } from '../src/features/clicks/destination.ts'
import { isPrefetch, openVisitorReader, type VisitorReader } from '../src/features/clicks/visitor.ts'
import { readImportRecord } from '../src/features/offers/import-record.ts'
import { createLinkSigner } from '../src/features/offers/links.ts'
import { EXAMPLE_VALUES, fillTemplate, lintTemplate } from '../src/features/postbacks/template.ts'
import { createQueryParser, parseNames } from '../src/http/query.ts'
import { asciiJson } from '../src/lib/ascii-json.ts'
import { csvLine } from '../src/lib/csv-line.ts'
import { readCsvRows } from '../src/lib/csv-rows.ts'
import { parseDuration } from '../src/lib/duration.ts'
import { networkOf, plainAddress } from '../src/lib/ip-address.ts'
import { isLoopback, parseRanges } from '../src/lib/ip-ranges.ts'
import { readJsonRows } from '../src/lib/json-rows.ts'
import { parseUsd } from '../src/lib/money.ts'
import { percentEncode } from '../src/lib/percent-encode.ts'
import { parseTime } from '../src/lib/time.ts'
import { hasValidChecksum } from '../src/lib/tokens.ts'
import { isUuid } from '../src/lib/uuid7.ts'
import { growthForTwice, MOST_FOR_TWICE as MOST, type Work } from './growth.ts'
import { SECRET_KEY, useWorld } from './world.ts'

const NAMES = ['apiKey', 'apiSecret', 'userId', 'country', 'limit', 'offset', 'sort', 'aff_sub']

let visitors: VisitorReader
let behindProxy: App
// Before the world's own: that one waits for every connection to its database.
after(async () => {
  visitors.close()
  await behindProxy.close()
})
let live: IssuedCredentials
const world = useWorld('growth', async () => {
  ;({ live } = await world.createApp())
  const { log } = world
  visitors = await openVisitorReader({
    geoipDb: null,
    countryHeader: null,
    trustProxy: [],
    listedIps: null,
    ipAddresses: 'full',
    log,
  })
  behindProxy = await world.start({ trustProxy: ['127.0.0.0/8', '10.0.0.0/8'] })
})
async function readAll(rows: AsyncIterable<unknown>): Promise<void> {
  const iterator = rows[Symbol.asyncIterator]()
  while (!(await iterator.next()).done);
}

/** As a stream gives it: in small pieces, and in one. */
async function* pieces(text: string, size: number): AsyncGenerator<string> {
  for (let i = 0; i < text.length; i += size) yield text.slice(i, i + size)
}

let count = 0
const signer = createLinkSigner(SECRET_KEY)
const SIGNED = signer.sign({ appId: 1, isTest: false, issuedAt: 0, requestId: 'r', userId: 'u', subIds: null })
const parseQuery = createQueryParser(NAMES)
const visible = (text: string) => text.replaceAll(/[^!-~]/g, '!')

/** Through the door, with this in a header. */
const header =
  (name: string, url: string, more: InjectOptions = {}): Work =>
  (text) =>
    world.app.server.inject({ url, ...more, headers: { [name]: visible(text) } })

const PARSERS: Record<string, Work> = {
  'query string': (text) => parseQuery(text),
  'query string, repeated': (text) => parseQuery(`userId=${text.replaceAll('&', '&userId=')}`),
  'names in a query string': (text) => parseNames(`/v1/offers?${text}`),
  'checksum of a key': (text) => hasValidChecksum(text),
  'link token': (text) => signer.read(text),
  'link token, signed': (text) => signer.read(`${text}${SIGNED}`),
  'link made for a user': (text) => signer.sign({ appId: 1, isTest: false, issuedAt: 0, requestId: '', userId: text.toWellFormed(), subIds: [text.toWellFormed()] }), // prettier-ignore
  'user agent': (text) => visitors.read({ ip: '', peer: '', headers: { 'user-agent': `${count++} ${text}` } }),
  'user agent of a browser': (text) => visitors.read({ ip: '', peer: '', headers: { 'user-agent': `Mozilla/5.0 (Linux; Android 14; ${text}) ${count++}` } }), // prettier-ignore
  'prefetch header': (text) => isPrefetch({ purpose: text }),
  'IP address': (text) => [plainAddress(text), networkOf(text), isLoopback(text)],
  'list of addresses': (text) => parseRanges(text.replaceAll('&', '\n')),
  'destination, its values': (text) => fillDestination('https://a.example/{aff_sub}/x?y={aff_sub}', { aff_sub: text }),
  'destination, its template': (text) => fillDestination(`https://a.example/${visible(text)}`, { aff_sub: '..' }),
  'postback template': (text) => lintTemplate(`https://a.example/${text}`),
  'postback values': (text) => fillTemplate('https://a.example/{user_id}/?u={user_id}', { ...EXAMPLE_VALUES, user_id: text }, () => ''), // prettier-ignore
  'CSV, read': (text) => readAll(readCsvRows(pieces(text, 65_536))),
  'CSV, read in pieces': (text) => readAll(readCsvRows(pieces(text, 500))),
  'CSV, written': (text) => csvLine([text, text]),
  'JSON rows': (text) => readAll(readJsonRows(pieces(`[${text}`, 65_536))),
  'JSON rows, in pieces': (text) => readAll(readJsonRows(pieces(`[{"a":"${text}`, 500))),
  'JSON, written': (text) => asciiJson(text),
  'percent-encoding': (text) => percentEncode(text),
  'time, amount, duration, id': (text) => [parseTime(text), parseUsd(text), parseDuration(text), isUuid(text)],
  'row of an import': (text) => readImportRecord({ name: text, description: text, payout: text, destination_url: `https://a.example/${text}`, countries: text, platforms: text, goals: text }), // prettier-ignore
  'X-API-Key': header('x-api-key', '/v1/offers?userId=u'),
  'If-None-Match': (text) => header('if-none-match', `/v1/offers?userId=u&apiKey=${live.api_key}&apiSecret=${live.api_secret}`)(text), // prettier-ignore
  'Accept of a page that is not there': header('accept', '/nothing'),
  'Accept-Encoding': header('accept-encoding', '/assets/none.js'),
  Authorization: header('authorization', '/manage/v1/me'),
  'Bearer token': (text) => header('authorization', '/manage/v1/me')(`Bearer ${text}`),
  Cookie: header('cookie', '/manage/v1/me'),
  'Origin and Referer': header('origin', '/manage/v1/me'),
  'Content-Type': header('content-type', '/v1/conversions', { method: 'POST', payload: '{}' }),
  'X-Forwarded-For': (text) =>
    behindProxy.server.inject({ url: '/healthz', headers: { 'x-forwarded-for': visible(text) } }),
  'path of a link': (text) => world.app.server.inject(`/c/1/${encodeURIComponent(text.toWellFormed())}`),
  'path that is not there': (text) => world.app.server.inject(`/x/${visible(text).replaceAll(/[#?%]/g, '/')}`),
  'body of a report': (text) => world.app.server.inject({ method: 'POST', url: '/v1/conversions', payload: text, headers: { 'content-type': 'application/json' } }), // prettier-ignore
  'body of a sign-in': (text) => world.app.server.inject({ method: 'POST', url: '/manage/v1/session', payload: { email: text, password: 'x' }, headers: { origin: world.config.publicUrl } }), // prettier-ignore
}

/** What has made other parsers slow before. */
const PUMPS = [
  'a&', '&', '=', 'a=b&', 'userId=1&', 'page=1&', '%', '%41', '%2', '+', '"', '""', '"\n', '\\', ' ', '\t', '\n', '\r\n', ',', ';',
  '(', ')', '[', '{', '}', '{a', '{aff_sub}', '{user_id}', '{"a":', '[[', '/', '//', '/../', '..', '.', ':', '::', '~', '~41',
  '0', '1.', '1e', '-', '@', 'a@', '=1;', '1.1.1.1,', '10.0.0.1, ', 'W/"x",', '*', 'a', 'é', '\u{1f600}', '\ud800', 'Android ',
  'Mozilla/5.0 (', 'Version/1 ', 'bot', 'like Gecko ', 'Bearer ', 'offerdeck.session_token=', 'a=b; ', 'x;q=0.1,',
] // prettier-ignore

/** Trimmed by an expression, these are looked through again and again where something follows them. */
const BLANKS = [' ', '\t', '\n', '\r\n']

const textOf = (prefix: string, pump: string, suffix: string) => (length: number) =>
  prefix + pump.repeat(Math.ceil(length / pump.length)) + suffix

/** Headers and paths are cut by Node at 16 KiB, bodies at 64 KiB; files can be longer. */
const LENGTH = 1_536

for (const [name, work] of Object.entries(PARSERS)) {
  test(`${name}: twice the bytes, about twice the work`, async () => {
    for (const [pump, suffix] of [
      ...PUMPS.map((pump) => [pump, ''] as const),
      ...BLANKS.map((pump) => [pump, 'x'] as const),
    ]) {
      const growth = await growthForTwice(work, textOf('', pump, suffix), LENGTH)
      assert.ok(growth <= MOST, `${JSON.stringify(pump)}: × ${growth.toFixed(1)}`)
    }
    const part = fc.string({ unit: fc.constantFrom(...Array.from('a0 &=%+"\\{}[]()/.,;:~@-_*\n\té')), maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(
        part,
        part.filter((pump) => pump !== ''),
        part,
        async (prefix, pump, suffix) => {
          const growth = await growthForTwice(work, textOf(prefix, pump, suffix), LENGTH)
          assert.ok(growth <= MOST, `× ${growth.toFixed(1)}`)
        },
      ),
      { numRuns: 10 },
    )
  })
}

test('the measure itself distinguishes linear from quadratic', async () => {
  const scan: Work = (text) => {
    let sum = 0
    for (let i = 0; i < text.length; i++) sum += text.charCodeAt(i)
    return sum
  }
  const quadratic: Work = (text) => {
    let sum = 0
    for (let i = 0; i < text.length; i += 8) for (let j = i; j < text.length; j += 8) sum += text.charCodeAt(j)
    return sum
  }
  assert.ok((await growthForTwice(scan, textOf('', 'a', ''), LENGTH)) <= MOST)
  assert.ok((await growthForTwice(quadratic, textOf('', 'a', ''), LENGTH)) > MOST)
  const expression: Work = (text) => /\s+$/.test(text)
  assert.ok((await growthForTwice(expression, textOf('', ' ', 'x'), LENGTH / 2)) > MOST)
})
