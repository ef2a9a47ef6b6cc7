// Shapes that many operations share.
import { type TSchema, Type } from 'typebox'
import { LINE, NOT_BLANK, SAFE_TEXT } from '../http/validation.ts'
import { shape } from '../http/shape.ts'

/** Goes out as RFC 3339. */
export const Time = Type.Unsafe<Date>({ type: 'string', format: 'date-time' })
export const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])
const textOf = (format: string) => (maxLength: number, description?: string) =>
  Type.String({ minLength: 1, maxLength, format, ...(description === undefined ? {} : { description }) })
/** On one line. */
export const text = textOf(LINE)
export const freeText = textOf(SAFE_TEXT)
/** What something is called. */
export const name = (maxLength: number, description: string) => ({
  ...text(maxLength, description),
  pattern: NOT_BLANK,
})
/** Why something was refused, as the other side reads it. */
export const refusal = (description: string) => ({ ...freeText(2_000, description), pattern: NOT_BLANK })
export const oneOf = <const T extends string>(values: readonly T[], description?: string) =>
  Type.Unsafe<T>({ type: 'string', enum: [...values], ...(description === undefined ? {} : { description }) })
export const id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, title: 'Id' })

/** Of a key, and of what was done with it. */
export const MODES = ['live', 'test'] as const

export const Ok = shape('Ok', { ok: Type.Boolean() })
export const OK = { ok: true }

export const AppParams = Type.Object({ app_id: id })
export const AdvertiserParams = Type.Object({ advertiser_id: id })
export const PublisherParams = Type.Object({ publisher_id: id })
