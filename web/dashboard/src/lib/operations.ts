// The operations of the management API as types, made from the server's own description (api-types.ts): the method and
// path of a request say what may be asked of it, what is sent with it, and what comes back.
import type { Operations } from './api-types.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
type Name = keyof Operations
type PathsOf<M extends Method> = Name extends infer K ? (K extends `${M} ${infer P}` ? P : never) : never

/** What may stand in a path for a parameter: one of its values, or any text where it has an ID. */
type Place<T> = T extends string ? T : string
/** What a path that is written out looks like: `/apps/3/conversions`. */
type Pattern<P extends string, Parameters> = P extends `${infer A}{${infer N}}${infer B}`
  ? `${A}${N extends keyof Parameters ? Place<Parameters[N]> : never}${Pattern<B, Parameters>}`
  : P
export type Path<M extends Method> = {
  [P in PathsOf<M>]: `${M} ${P}` extends infer N extends Name ? Pattern<P, Operations[N]['path']> : never
}[PathsOf<M>]

type Segments<P extends string> = P extends `/${infer A}/${infer B}` ? [A, ...Segments<`/${B}`>] : [P]
type Fits<A, C, Parameters> = C extends `${infer Start}{${infer N}}`
  ? A extends `${Start}${N extends keyof Parameters ? Place<Parameters[N]> : never}`
    ? true
    : false
  : A extends C
    ? true
    : false
/** Whether the segments of a path are those of an operation. */
type IsAt<P extends string[], O extends string[], Parameters> = P extends [infer A, ...infer B extends string[]]
  ? O extends [infer C, ...infer D extends string[]]
    ? Fits<A, C, Parameters> extends true
      ? IsAt<B, D, Parameters>
      : false
    : false
  : O extends []
    ? true
    : false
/** The operation at a path. */
type At<M extends Method, P extends string> = P extends string
  ? {
      [O in PathsOf<M>]: `${M} ${O}` extends infer N extends Name
        ? IsAt<Segments<P>, Segments<O>, Operations[N]['path']> extends true
          ? N
          : never
        : never
    }[PathsOf<M>]
  : never

/** What an operation takes or replies. A condition, since `Operations[N]` made the compiler try every path on every operation. */
type Part<N, K extends 'query' | 'body' | 'reply'> = N extends Name ? Operations[N][K] : never

/** Text stands for what is not text: the server reads both alike. Null and empty are left out. */
type Asked<T> =
  | T
  | (T extends number ? `${number}` | (string & {}) : T extends boolean ? `${T}` : never)
  | ''
  | null
  | undefined
type Questions<Q> = keyof Q extends never ? undefined : { [K in keyof Q]: Asked<Q[K]> }
export type Query<M extends Method, P extends string> = Questions<Part<At<M, P>, 'query'>>
/** What is undefined is not sent. */
type Sendable<T> = T extends object ? { [K in keyof T]: object extends Pick<T, K> ? T[K] | undefined : T[K] } : T
export type Body<M extends Method, P extends string> = Sendable<Part<At<M, P>, 'body'>>
export type Reply<M extends Method, P extends string> = Part<At<M, P>, 'reply'>

/** Of an operation by its name: `BodyOf<'POST /bans'>`. */
export type BodyOf<N extends Name> = Sendable<Operations[N]['body']>
export type QueryOf<N extends Name> = Questions<Operations[N]['query']>
