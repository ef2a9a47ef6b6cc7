import assert from 'node:assert/strict'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createFolder } from '../../test/folders.ts'
import { Spool } from './spool.ts'

const folder = createFolder('spool')
after(() => rmSync(folder, { recursive: true, force: true }))

test('whatever was acknowledged is replayed, though two processes append and replay at the same time', async () => {
  const root = join(folder, 'busy')
  const spools = [new Spool<number>(root), new Spool<number>(root)]
  const acknowledged = new Set<number>()
  const replayed = new Set<number>()
  const write = async (rows: number[]) => rows.forEach((row) => replayed.add(row))
  const endsAtMs = Date.now() + 1_500
  const isOver = () => Date.now() > endsAtMs && acknowledged.size > 100 // a busy machine takes longer for as many
  const appenders = Array.from({ length: 6 }, async (_, who) => {
    for (let i = 0; !isOver(); i++) {
      await spools[who % 2]?.append(who * 1_000_000 + i)
      acknowledged.add(who * 1_000_000 + i)
    }
  })
  const replayers = spools.map(async (spool) => {
    while (!isOver()) {
      await spool.replay(write)
      await sleep(3)
    }
  })
  await Promise.all([...appenders, ...replayers])
  for (const spool of spools) await spool.replay(write)
  assert.deepEqual(
    [...acknowledged].filter((row) => !replayed.has(row)),
    [],
  )
  for (const spool of spools) await spool.close()
})

test('what a process that is gone left behind is replayed by another, in order, a torn last line left out', async () => {
  const root = join(folder, 'orphan')
  mkdirSync(join(root, '1-1-x'), { recursive: true })
  writeFileSync(join(root, '1-1-x', '000000000.jsonl'), '1\n2\n')
  writeFileSync(join(root, '1-1-x', '000000001.jsonl'), '3\n{"tor')
  const rows: number[] = []
  const spool = new Spool<number>(root)
  assert.equal(await spool.replay(async (some) => void rows.push(...some)), 3)
  assert.deepEqual(rows, [1, 2, 3])
  assert.equal(await spool.replay(async (some) => void rows.push(...some)), 0)
  await spool.close()
})

test('a replay that fails leaves everything for the next', async () => {
  const spool = new Spool<number>(join(folder, 'failing'))
  await spool.append(1)
  await assert.rejects(
    spool.replay(() => Promise.reject(new Error('still away'))),
    /still away/,
  )
  await spool.append(2)
  const rows: number[] = []
  await spool.replay(async (some) => void rows.push(...some))
  assert.deepEqual(rows, [1, 2])
  await spool.close()
})

test('append fails where nothing can be written', async () => {
  writeFileSync(join(folder, 'file'), '')
  await assert.rejects(new Spool<number>(join(folder, 'file', 'spool')).append(1), /ENOTDIR/)
})
