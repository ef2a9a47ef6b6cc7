// Lists that are read page by page, newest first.
import { Type } from 'typebox'
import { badCursor } from '../errors.ts'
import { UUID_CURSOR } from './validation.ts'

export const PAGE_QUERY = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'How many to return.' })),
  cursor: Type.Optional(
    Type.String({ minLength: 1, maxLength: 100, description: 'The next_cursor of the page before.' }),
  ),
}

/** Of a list whose ids are UUIDs. */
export const UUID_PAGE_QUERY = {
  ...PAGE_QUERY,
  cursor: Type.Optional(
    Type.String({ minLength: 1, format: UUID_CURSOR, description: 'The next_cursor of the page before.' }),
  ),
}

export const NextCursor = Type.Union([Type.String(), Type.Null()], { description: 'Null on the last page.' })

/** Of what was found when one more than `limit` was asked for. */
export function cutPage<T>(found: readonly T[], limit: number, idOf: (one: T) => string) {
  const page = found.slice(0, limit)
  const last = found.length > limit ? page.at(-1) : undefined
  return { page, nextCursor: last === undefined ? null : idOf(last) }
}

/** Of a list whose ids are numbers. */
export function readIdCursor(cursor: string, name = 'cursor'): number {
  if (!/^\d{1,15}$/.test(cursor)) throw badCursor(name)
  return Number(cursor)
}

/** The same, as part of a filter. */
export const beforeId = (cursor: string | undefined): { before?: number } =>
  cursor === undefined ? {} : { before: readIdCursor(cursor) }
