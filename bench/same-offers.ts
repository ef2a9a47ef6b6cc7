// Whether two servers give the same offers: asked for with every filter, and compared field by field.
import { type Catalogue, FILTERS } from './data.ts'
import { fetchFrom, type Reply, type Running, startSql } from './servers.ts'
import type { ListKind } from './wrk.ts'

export const pathOf = ({ apiKey, apiSecret }: Catalogue, filter: string, rest: string) =>
  `/api/v1/offers?apiKey=${apiKey}&apiSecret=${apiSecret}&${filter}&userId=user-${rest}`

/** Asks once for every filter, like the load does. */
export async function askAll(server: Running, catalogue: Catalogue, kind: ListKind): Promise<Reply[]> {
  const replies: Reply[] = []
  for (const [i, filter] of FILTERS.entries()) {
    const id = kind === 'list' ? String(100_000_000 + i) : `${Date.now()}-${1000 + i}`
    const subIds = kind === 'list' ? '' : `&aff_sub=a${id}&aff_sub2=b${id}&aff_sub3=c${id}&aff_sub4=d${id}`
    const reply = await fetchFrom(server, pathOf(catalogue, filter, id + subIds))
    if (reply.status !== 200) throw new Error(`${server.name} answered ${reply.status}: ${reply.body}`)
    replies.push(reply)
  }
  return replies
}

/** The SQL server, once it has shown that it gives the same offers. */
export async function startSqlLike(replies: Reply[], catalogue: Catalogue): Promise<Running> {
  const sql = await startSql(catalogue.dataDir)
  for (const [i, reply] of (await askAll(sql, catalogue, 'list')).entries()) {
    const difference = findDifference(contentOf(replies[i] as Reply), contentOf(reply))
    if (difference !== null) {
      await sql.stop()
      throw new Error(`The SQL server and Offerdeck disagree about ${FILTERS[i]}: ${difference}`)
    }
  }
  return sql
}

export type Content = { total: number; offers: Record<string, unknown>[] }

export function contentOf({ body }: Reply): Content {
  const text = Buffer.from(body, 'latin1').toString('utf8')
  // Every server names itself in what it sends.
  return (JSON.parse(text.replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, '')) as { data: Content }).data
}

export function findDifference(ours: Content, theirs: Content): string | null {
  if (ours.total !== theirs.total) return `total ${ours.total} and ${theirs.total}`
  for (const [i, offer] of ours.offers.entries()) {
    for (const [name, value] of Object.entries(offer)) {
      const other = theirs.offers[i]?.[name]
      const isSame = name === 'link' ? typeof other === 'string' : canonical(value) === canonical(other)
      if (!isSame) return `${name} of offer ${i}: ${JSON.stringify(value)} and ${JSON.stringify(other)}`
    }
  }
  return null
}

/** JSON whatever the order of the keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
}
