// Parsing costs what the length of a request suggests, whatever its content: anyone may send one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { growthOf } from '../../../../test/growth.ts'
import { useWorld } from '../../../../test/world.ts'
import { maskToken } from './mask-token.ts'
import { MAX_TEXT, parseCall, readCall } from './parameters.ts'

const world = useWorld('postback_growth')

const PIECES = ['a&', 'a=1&', 'token&', 'token=adv_x&', '%', '%41', '+', '=', '&', ' ', 'a', 'amount=1&', '\u00e9']
const JSON_PIECES = [
  '"',
  '\\',
  '\\"',
  '"a":1,',
  '"token":',
  '"token":"adv_',
  '[',
  '{"a":',
  'adv_',
  ' ',
  '1',
  '-',
  '\\u0041',
]

const DIALECT = {
  aliases: {},
  statusMap: {},
  negativeAmount: 'refuse',
  reversalPrefix: '',
  callRules: {},
  decimalMark: 'detect',
} as const
const fill = (piece: string) => (size: number) => piece.repeat(Math.ceil(size / piece.length))

test('twice the bytes are about twice the work, for the query, a form and JSON', () => {
  const texts = [
    ...PIECES.map((piece) => [piece, fill(piece)] as const),
    ...JSON_PIECES.map((piece) => [`{${piece}`, (size: number) => `{${fill(piece)(size)}`] as const),
  ]
  const works = {
    parse: (text: string) => parseCall({ query: text, body: text }),
    read: (text: string) => readCall({ query: text, body: text, isCut: false }, DIALECT),
    mask: (text: string) => maskToken(text),
  }
  for (const [name, work] of Object.entries(works))
    for (const [piece, make] of texts) {
      const growth = growthOf((text: string) => void work(text), make, MAX_TEXT / 16)
      assert.ok(growth < 3, `${name} of ${piece}: ${growth.toFixed(1)}`)
    }
})

test('a body that is too long is not read at all, and counts as a refusal of its IP address', async () => {
  const send = () =>
    world.app.server.inject({
      method: 'POST',
      url: '/postback',
      payload: 'a&'.repeat(32_700),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      remoteAddress: '203.0.113.77',
    })
  const statuses: number[] = []
  for (let i = 0; i < 102; i++) statuses.push((await send()).statusCode)
  assert.deepEqual([...new Set(statuses.slice(0, 100))], [413])
  assert.deepEqual(statuses.slice(100), [429, 429])
})
