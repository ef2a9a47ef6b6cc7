// Columns are snake_case, TypeScript is camelCase. Where rows are converted, one list of columns says which: the type, the
// names to select them by and the names to write them by all follow from it.
import type { Selectable } from 'kysely'

export type CamelCase<Name> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail> & string>}`
  : Name

export type CamelCased<Row> = { [Name in keyof Row as CamelCase<Name>]: Row[Name] }

/** What `camelColumns` or `camelJson` gives of these columns. */
export type Selected<Table, Columns extends readonly (keyof Selectable<Table>)[]> = CamelCased<
  Pick<Selectable<Table>, Columns[number]>
>

export const camelCase = <Name extends string>(name: Name) =>
  name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()) as CamelCase<Name>

/** To select columns by their names in TypeScript. */
export const camelColumns = (table: string, columns: readonly string[]): string =>
  columns.map((column) => `${table}.${column} AS "${camelCase(column)}"`).join(', ')

/** The same as one JSON object. */
export const camelJson = (table: string, columns: readonly string[]): string =>
  `json_build_object(${columns.map((column) => `'${camelCase(column)}', ${table}.${column}`).join(', ')})`
