// kill -9 on the path of money: every click that redirected, every confirmation and every report that was acknowledged
// is found afterwards, once, with its ledger and its history; nothing is found that was not sent.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { openDatabase } from '../../src/db/open.ts'
import { Installation, until } from '../installation.ts'
import { FAULT_ROUNDS } from '../tier.ts'
import { Traffic } from './traffic.ts'

const program = new Installation()
let traffic: Traffic
before(async () => {
  traffic = await Traffic.prepare(program)
})
after(() => program.remove())

async function compare(): Promise<void> {
  const database = await openDatabase({ databaseUrl: null, dataDir: program.dataDir, connections: 2 })
  try {
    await traffic.compare(database)
  } finally {
    await database.close()
  }
}

/** Starts once more, so that what the last one left in its spool is written: thousands of rows, if the database was down often. */
async function replaySpool(): Promise<void> {
  const server = await program.serve()
  await until(() => program.spoolIsEmpty())
  await server.kill('SIGINT')
}

test(`after kill -9 of the server under load, no click and no conversion is lost or doubled (${FAULT_ROUNDS} rounds)`, async () => {
  for (let round = 0; round < FAULT_ROUNDS; round++) {
    const server = await program.serve()
    const clients = traffic.start(server.url)
    await traffic.someAnswers()
    await server.kill('SIGKILL')
    await clients.stop()
    await compare()
  }
})

test(`after kill -9 of PostgreSQL under load, links lead on meanwhile, and nothing is lost or doubled (${FAULT_ROUNDS} rounds)`, async () => {
  const server = await program.serve()
  for (let round = 0; round < FAULT_ROUNDS; round++) {
    const clients = traffic.start(server.url)
    await traffic.someAnswers()
    const pidFile = readFileSync(join(program.dataDir, 'postgres/data/postmaster.pid'), 'utf8')
    process.kill(Number(pidFile.split('\n')[0]), 'SIGKILL')
    await traffic.someClicks()
    await until(async () => {
      const { database } = (await (await fetch(`${server.url}/readyz`)).json()) as { database: string }
      return database === 'ok'
    })
    await clients.stop()
  }
  await server.kill('SIGINT')
  await replaySpool()
  await compare()
})
