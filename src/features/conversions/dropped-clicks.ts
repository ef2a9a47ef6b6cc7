// Finds what a confirmation is about when its click was dropped, or it names none: by a conversion, which keeps
// everything its click knew.
import type { Db } from '../../db/open.ts'
import { uuid7Floor } from '../../lib/uuid7.ts'
import type { Command, Confirmation } from './commands.ts'
import { transactionKey, userKey } from './keys.ts'
import { type ClickSnapshot, rebuildClicks, rebuildClicksOfTransactions } from './read-clicks.ts'

/** A younger click may still be in a spool: until then its transaction does not identify it. */
const SPOOLED_MS = 72 * 3_600_000

export type DroppedClicks = {
  /** Rebuilt from conversions; see `DecisionContext.clicks`. */
  clicks: Map<string, ClickSnapshot>
  ambiguous: Set<string>
  conversionIds: string[]
}

export async function findDroppedClicks(
  db: Db,
  commands: readonly Command[],
  clicks: ReadonlyMap<string, ClickSnapshot>,
  now: Date,
): Promise<DroppedClicks> {
  const dropped: DroppedClicks = { clicks: new Map(), ambiguous: new Set(), conversionIds: [] }
  const unknown = commands.filter(
    (command): command is Confirmation =>
      command.kind === 'confirmation' && (command.clickId === null || !clicks.has(command.clickId)),
  )
  if (unknown.length === 0) return dropped
  const clickIds = [...new Set(unknown.flatMap(({ clickId }) => clickId ?? []))]
  for (const row of await rebuildClicks(db, clickIds)) {
    dropped.conversionIds.push(row.conversionId)
    if (row.clickId !== null) dropped.clicks.set(row.clickId, row)
  }
  const oldest = uuid7Floor(now.getTime() - SPOOLED_MS)
  const byTransaction = unknown.filter(
    ({ clickId, transactionId }) =>
      transactionId !== null && (clickId === null || (clickId < oldest && !dropped.clicks.has(clickId))),
  )
  const rows = await rebuildClicksOfTransactions(db, byTransaction)
  for (const [place, confirmation] of byTransaction.entries()) {
    const found = rows.filter((row) => row.place === place + 1)
    const [first] = found
    if (first === undefined) continue
    const isOne = found.every((row) => userKey(row) === userKey(first))
    if (isOne) dropped.clicks.set(transactionKey(confirmation), first)
    else dropped.ambiguous.add(transactionKey(confirmation))
    dropped.conversionIds.push(...found.map((row) => row.conversionId))
  }
  return dropped
}
