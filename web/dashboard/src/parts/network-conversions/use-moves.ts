// Deciding about many conversions: in pieces, so that one sees how far it is, and what was done stays known when the way
// to the server breaks in the middle.
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Schemas } from '../../lib/api-types.ts'
import { ApiError, post } from '../../lib/api.ts'

const PIECE = 50
const CHANGED = ['/conversions', '/publishers', '/fraud']

export type MoveTo = Schemas['ConversionMoves']['to']
export type MoveReason = NonNullable<Schemas['ConversionMoves']['status_reason']>
export type MoveResult = Schemas['MovedConversions']['results'][number]
export type Moving = { state: 'asking' | 'moving' | 'done'; results: MoveResult[]; error: ApiError | null }

const ASKING: Moving = { state: 'asking', results: [], error: null }

export function useMoves(to: MoveTo, ids: string[]) {
  const client = useQueryClient()
  const [moving, setMoving] = useState<Moving>(ASKING)

  /** Those that nothing came of yet: after an error it continues where it stopped. */
  async function move(status_reason: MoveReason, reason: string): Promise<void> {
    let results = moving.results
    const settled = new Set(results.map((result) => result.conversion_id))
    const left = ids.filter((id) => !settled.has(id))
    setMoving({ state: 'moving', results, error: null })
    try {
      for (let i = 0; i < left.length; i += PIECE) {
        const conversion_ids = left.slice(i, i + PIECE)
        const body = { to, conversion_ids, status_reason, ...(reason.trim() === '' ? {} : { reason: reason.trim() }) }
        const answer = await post('/conversions/moves', body)
        results = [...results, ...answer.results]
        setMoving({ state: 'moving', results, error: null })
      }
      setMoving({ state: 'done', results, error: null })
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      setMoving({ state: 'asking', results, error })
    } finally {
      await client.invalidateQueries({
        predicate: ({ queryKey: [path] }) =>
          typeof path === 'string' && CHANGED.some((start) => path.startsWith(start)),
      })
    }
  }

  return { ...moving, move }
}
