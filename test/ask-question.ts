import { randomUUID } from 'node:crypto'
import { openTicket } from '../src/features/wall/tickets.ts'
import type { World } from './world.ts'

/** Opens a ticket of a user of this app. */
export function askQuestion(world: World, appId: number) {
  const user = { appId, isTest: false, userId: 'u' }
  const visitor = { country: null, device: null, os: null }
  return openTicket(
    world.database.db,
    user,
    visitor,
    { key: randomUUID(), kind: 'question', text: 'When?' },
    new Date(),
  )
}
