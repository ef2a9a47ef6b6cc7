// The same request many times at once, to several processes of the real program on one database.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openDatabase } from '../src/db/open.ts'
import type { IssuedCredentials } from '../src/features/apps/keys.ts'
import { checkLedger } from '../src/features/ledger/check.ts'
import { Installation, until } from './installation.ts'

const TIMES = 50

const program = new Installation()
after(() => program.remove())

test('50 identical conversions at once, to three processes, create one row and one set of entries: one 201, the rest 200', async () => {
  await program.json('publisher', 'create', '--name', 'P')
  const create = ['app', 'create', '--publisher', 'P', '--name', 'A', '--rate-limit', '100000']
  const { live: app, app_id } = await program.json<{ live: IssuedCredentials; app_id: number }>(...create)
  await program.json('seed', '--offers', '3')
  const [offer] = await program.json<{ offer_id: number }[]>('offer', 'list')
  const servers = [await program.serve(), await program.serve(), await program.serve()]
  const headers = {
    'x-api-key': app.api_key,
    'x-api-secret': app.api_secret,
    'content-type': 'application/json',
  }
  for (const userId of ['pending', 'approved']) {
    if (userId === 'approved') await program.json('app', 'trust', String(app_id), '--all', '--yes')
    const body = JSON.stringify({ userId, offerId: offer?.offer_id })
    const answers = await Promise.all(
      Array.from({ length: TIMES }, async (_, i) => {
        const url = `${servers[i % servers.length]?.url}/v1/conversions`
        const answer = await fetch(url, { method: 'POST', headers, body })
        const { data } = (await answer.json()) as { data: { conversion: { conversion_id: string; status: string } } }
        return { ...data.conversion, http: answer.status }
      }),
    )
    assert.deepEqual(
      answers.map(({ http }) => http).toSorted((a, b) => b - a),
      [201, ...Array.from({ length: TIMES - 1 }, () => 200)],
    )
    assert.deepEqual(new Set(answers.map((answer) => answer.conversion_id)).size, 1)
    assert.ok(answers.every((answer) => answer.status === userId))
  }
  // It leaves the list of that user in every process, within a second of their next look.
  for (const { url } of servers) {
    await until(async () => {
      const answer = await fetch(`${url}/v1/offers/${offer?.offer_id}?userId=approved`, { headers })
      return answer.status === 404
    })
  }
  for (const server of servers) await server.kill('SIGINT')
  const database = await openDatabase({ databaseUrl: null, dataDir: program.dataDir, connections: 2 })
  const count = async (table: 'conversions' | 'conversion_events') =>
    (
      await database.db
        .selectFrom(table)
        .select((is) => is.fn.countAll<number>().as('rows'))
        .executeTakeFirstOrThrow()
    ).rows
  assert.equal(await count('conversions'), 2)
  assert.equal(await count('conversion_events'), 2)
  assert.deepEqual(await checkLedger(database), [])
  const postings = await database.db.selectFrom('ledger_entries').select('posting_id').distinct().execute()
  assert.equal(postings.length, 2)
  await database.close()
})
