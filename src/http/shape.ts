import { type TObjectOptions, type TProperties, Type } from 'typebox'

/** An object that the OpenAPI description refers to by its name: see components.ts. */
export const shape = <P extends TProperties>(title: string, properties: P, more: TObjectOptions = {}) =>
  Type.Object(properties, { ...more, title })

/** One of these words. */
export const oneOf = <const V extends string>(values: readonly V[], more: { description?: string; default?: V } = {}) =>
  Type.Unsafe<V>({ type: 'string', enum: values, ...more })
