// The queue of a world for itself, emptied before each test, and what is done with it.
import assert from 'node:assert/strict'
import { beforeEach } from 'node:test'
import { type Finished, finishClaims } from '../src/features/postbacks/claims.ts'
import { laneSigns, updateLanes } from '../src/features/postbacks/lanes.ts'
import type { Claimed } from '../src/features/postbacks/queue.ts'
import {
  claimDue,
  countRead,
  forgetPostbacks,
  NOW,
  putBlocked,
  putPostback,
  putPostbacks,
  readPostback,
} from './postback-world.ts'
import type { Db } from '../src/db/open.ts'
import { useWorld } from './world.ts'

const LIMIT = 128
export const CAPACITY = 256

type Given = Parameters<typeof putPostback>[2]

export function useQueue(name: string) {
  const world = useWorld(name)
  beforeEach(() => forgetPostbacks(world.database.db))
  const claim = (now = NOW, limit = LIMIT, capacity = CAPACITY) => claimDue(world.database.db, limit, capacity, now)
  return {
    world,
    claim,
    /** Claims the one that is due. */
    claimOne: async (now = NOW): Promise<Claimed> => {
      const [one, ...others] = await claim(now)
      assert.ok(one !== undefined && others.length === 0)
      return one
    },
    put: (appId: number, given?: Given) => putPostback(world.database.db, appId, given),
    putMany: (appId: number, count: number, given?: Given) => putPostbacks(world.database.db, appId, count, given),
    putBlocked: (appId: number, count: number) => putBlocked(world.database.db, appId, count),
    countRead: (work: (db: Db) => Promise<unknown>) => countRead(world.database.db, work),
    read: (id: string) => readPostback(world.database.db, id),
    report: (results: Finished[], now = NOW) => finishClaims(world.database.db, results, now),
    finishLanes: (results: Finished[], now = NOW) => updateLanes(world.database.db, laneSigns(results), now),
  }
}
