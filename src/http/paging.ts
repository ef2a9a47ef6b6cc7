// Lists that are read page by page, newest first.
import { Type } from 'typebox'
import { NUMBER_CURSOR, UUID_CURSOR } from './validation.ts'

const pageQuery = (format: string) => ({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'How many to return.' })),
  cursor: Type.Optional(Type.String({ minLength: 1, format, description: '`next_cursor` of the previous page.' })),
})

/** Of a list whose ids are numbers. */
export const ID_PAGE_QUERY = pageQuery(NUMBER_CURSOR)
/** Of a list whose ids are UUIDs. */
export const UUID_PAGE_QUERY = pageQuery(UUID_CURSOR)

/** Of a list that says how long it is. */
export const OFFSET_PAGE_QUERY = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0 })),
}

export const NextCursor = Type.Union([Type.String(), Type.Null()], {
  title: 'NextCursor',
  description: 'Null on the last page. Earlier pages may be short if a filter matches few rows.',
})

/** Of what was found when one more than `limit` was asked for. */
export function cutPage<T>(found: readonly T[], limit: number, idOf: (one: T) => string) {
  const page = found.slice(0, limit)
  const last = found.length > limit ? page.at(-1) : undefined
  return { page, nextCursor: last === undefined ? null : idOf(last) }
}

/** The cursor of a list whose ids are numbers, as part of a filter. */
export const beforeId = (cursor: string | undefined): { before?: number } =>
  cursor === undefined ? {} : { before: Number(cursor) }
