// Every row of every table as text, whatever its columns: for what must not be anywhere, and for what must not change.
import type pg from 'pg'

/** By table; partitions are read through theirs. */
export async function readWhole(pool: pg.Pool): Promise<Map<string, string[]>> {
  const { rows: tables } = await pool.query<{ name: string }>(`
    SELECT c.relname AS name FROM pg_class c
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition ORDER BY 1`)
  const whole = new Map<string, string[]>()
  for (const { name } of tables) {
    const { rows } = await pool.query<{ text: string }>(`SELECT to_jsonb(t)::text AS text FROM "${name}" t`)
    whole.set(name, rows.map((row) => row.text)) // prettier-ignore
  }
  return whole
}

/** Where any of these texts is, as it was written, or as a URL or a form has it. */
export function findTexts(whole: Map<string, string[]>, texts: readonly string[]): string[] {
  const asForm = (text: string) => new URLSearchParams({ '': text }).toString().slice(1)
  const forms = texts.flatMap((text) => [text, encodeURIComponent(text), asForm(text)])
  return [...whole].flatMap(([table, rows]) =>
    rows.filter((row) => forms.some((text) => row.includes(text))).map((row) => `${table}: ${row}`),
  )
}

/** The rows that are gone, or are other ones now. */
export function findChanged(before: Map<string, string[]>, after: Map<string, string[]>) {
  return [...before].flatMap(([table, rows]) => {
    const left = new Set(after.get(table))
    return rows.filter((row) => !left.has(row)).map((row) => ({ table, row }))
  })
}
