import { createServer } from 'node:http'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { verifyPostback } from '../verify-postback/node.mjs'

/** Rewards in ten-thousandths, so that sums are exact. */
export function openAccounts(file) {
  const db = new DatabaseSync(file)
  db.exec(`
    PRAGMA busy_timeout = 5000;
    CREATE TABLE IF NOT EXISTS postbacks (
      id TEXT PRIMARY KEY,
      conversion_id TEXT NOT NULL,
      user_id TEXT NOT NULL,
      status TEXT NOT NULL,
      reward INTEGER NOT NULL
    );
    CREATE TABLE IF NOT EXISTS balances (user_id TEXT PRIMARY KEY, reward INTEGER NOT NULL);`)
  return db
}

/** The postback and what it credits in one transaction: both are stored, or neither is. */
export function credit(db, { id, data: { conversion_id, user_id, status, payout_local, is_test } }) {
  if (is_test || !['approved', 'reversed'].includes(status)) return
  const amount = Math.round(Math.abs(payout_local) * 10_000)
  const reward = status === 'approved' ? amount : -amount
  db.exec('BEGIN IMMEDIATE')
  try {
    const { changes } = db
      .prepare('INSERT INTO postbacks VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING')
      .run(id, conversion_id, user_id, status, reward)
    if (changes === 1)
      db.prepare(
        `INSERT INTO balances VALUES (?, ?)
         ON CONFLICT (user_id) DO UPDATE SET reward = balances.reward + excluded.reward`,
      ).run(user_id, reward)
    db.exec('COMMIT')
  } catch (error) {
    db.exec('ROLLBACK')
    throw error
  }
}

export function createReceiver(db, secrets) {
  return createServer(async (request, response) => {
    try {
      const chunks = []
      for await (const chunk of request) chunks.push(chunk)
      const body = Buffer.concat(chunks)
      if (!verifyPostback(secrets, request.headers, body)) return response.writeHead(401).end('wrong signature')
      credit(db, JSON.parse(body.toString()))
      response.end('OK')
    } catch (error) {
      console.error(error)
      response.writeHead(500).end('not stored') // the postback comes again
    }
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { PORT = '3000', DATABASE = 'accounts.db', SIGNING_SECRET } = process.env
  if (!SIGNING_SECRET) throw new Error('Set SIGNING_SECRET.')
  createReceiver(openAccounts(DATABASE), SIGNING_SECRET.split(' ')).listen(Number(PORT), '127.0.0.1')
}
