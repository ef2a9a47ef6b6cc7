// Takes commands one by one and settles them in batches: a few statements and one commit for many.
import { BatchWriter } from '../../db/batch-writer.ts'
import { isRowError } from '../../db/pg-errors.ts'
import type { Db } from '../../db/open.ts'
import type { Command, Outcome } from './commands.ts'
import { KnownOffers } from './known-offers.ts'
import { settle } from './settle.ts'

/** Each command holds a few locks of the database until its batch is done. */
export const DESK_ROWS = 50
const LANES = 2

export type Desk = {
  /** Resolves when the command is settled and committed. */
  settle: (command: Command) => Promise<Outcome>
  /** Resolves when no command is left: also those whose sender has gone are settled. */
  close: () => Promise<void>
}

/** `onMoved` is called after a commit in which conversions were made or moved. */
export function createDesk(db: Db, onMoved: () => void = () => {}): Desk {
  const knownOffers = new KnownOffers()
  const writer = new BatchWriter<Command, Outcome>(
    async (commands) => {
      const outcomes = await settle(db, commands, new Date(), knownOffers)
      if (outcomes.some(({ kind }) => kind === 'created' || kind === 'moved')) onMoved()
      return outcomes
    },
    isRowError,
    { lanes: LANES, maxRows: DESK_ROWS },
  )
  return { settle: (command) => writer.add(command), close: () => writer.drain() }
}
