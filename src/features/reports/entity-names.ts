// Names for the IDs in audit entries: what an entry was about, and what its details mention. What no longer exists has
// no name, and is known by its ID.
import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import { isUuid } from '../../lib/uuid7.ts'

export const ENTITY_KINDS = ['publisher', 'app', 'offer', 'advertiser', 'person', 'locker', 'feed', 'import'] as const
export type EntityKind = (typeof ENTITY_KINDS)[number]

export type Entity = { kind: EntityKind; id: string }
/** `publisher_id`: whose app, person or locker it is. `app_id`: the app of a locker. */
export type NamedEntity = Entity & { name: string; publisher_id: number | null; app_id: number | null }

type Entry = { action: string; subject: string; publisher_id: number | null; details: unknown }

/** The nouns of actions whose subject is the ID of one of these. */
const KINDS_BY_NOUN: Readonly<Record<string, EntityKind>> = {
  publisher: 'publisher',
  application: 'publisher',
  app: 'app',
  content_rules: 'app',
  rewards: 'app',
  postback_settings: 'app',
  postback_lane: 'app',
  wall: 'app',
  locker: 'locker',
  feed: 'feed',
  offers: 'import',
  offer: 'offer',
  advertiser: 'advertiser',
  person: 'person',
  profile: 'person',
  password: 'person',
  session: 'person',
  token: 'person',
  two_factor: 'person',
}

const ID_FIELD = new RegExp(`^(${ENTITY_KINDS.join('|')})_ids?$`)
const MAX_MENTIONS = 20 // of one entry: an import or a bulk change may have thousands

export type Mention = { field: string } & NamedEntity

/** For each entry its target, its publisher and its mentions, all read with one query. */
export async function readAuditNames(db: Db, entries: readonly Entry[]) {
  const wanted = entries.map((entry) => ({
    target: targetOf(entry),
    publisher: entry.publisher_id === null ? null : ({ kind: 'publisher', id: String(entry.publisher_id) } as const),
    mentions: mentionsOf(entry),
  }))
  const all = wanted.flatMap(({ target, publisher, mentions }) => [target ?? [], publisher ?? [], mentions].flat())
  const names = await readNames(db, all)
  const nameOf = (entity: Entity | null) => (entity === null ? null : (names.get(keyOf(entity)) ?? null))
  return wanted.map(({ target, publisher, mentions }, i) => ({
    target: target?.kind === 'import' ? importOf(target, entries[i]?.details) : nameOf(target),
    publisher: nameOf(publisher),
    mentions: mentions.flatMap(({ field, ...entity }): Mention[] => {
      const named = nameOf(entity)
      return named === null ? [] : [{ field, ...named }]
    }),
  }))
}

function targetOf({ action, subject }: Entry): Entity | null {
  const kind = KINDS_BY_NOUN[action.split('.')[0] ?? '']
  return kind === undefined || !isIdOf(kind, subject) ? null : { kind, id: subject }
}

/** Imports are in no table: what they were of is in their entries. */
function importOf(target: Entity, details: unknown): NamedEntity | null {
  const { file_name } = (details ?? {}) as { file_name?: unknown }
  return typeof file_name === 'string' ? { ...target, name: file_name, publisher_id: null, app_id: null } : null
}

function mentionsOf({ details }: Entry): (Entity & { field: string })[] {
  const found = Object.entries(details ?? {}).flatMap(([field, value]: [string, unknown]) => {
    const kind = (field === 'offers' ? 'offer' : ID_FIELD.exec(field)?.[1]) as EntityKind | undefined
    if (kind === undefined) return []
    const ids = [value].flat().filter((id) => typeof id === 'string' || typeof id === 'number')
    return ids.map((id) => ({ field, kind, id: String(id) }))
  })
  return found.filter(({ kind, id }) => isIdOf(kind, id)).slice(0, MAX_MENTIONS)
}

const isIdOf = (kind: EntityKind, id: string) =>
  kind === 'person' || kind === 'import' ? isUuid(id) : /^[1-9]\d{0,14}$/.test(id)

const keyOf = ({ kind, id }: Entity) => `${kind} ${id}`

async function readNames(db: Db, entities: readonly Entity[]): Promise<Map<string, NamedEntity>> {
  if (entities.length === 0) return new Map()
  const idsOf = (kind: EntityKind) => [...new Set(entities.filter((one) => one.kind === kind).map(({ id }) => id))]
  const { rows } = await sql<NamedEntity>`
    SELECT 'publisher' AS kind, publisher_id::text AS id, name, publisher_id, NULL::bigint AS app_id FROM publishers
      WHERE publisher_id = ANY (${idsOf('publisher')}::bigint[])
    UNION ALL SELECT 'app', app_id::text, name, publisher_id, app_id FROM apps
      WHERE app_id = ANY (${idsOf('app')}::bigint[])
    UNION ALL SELECT 'offer', offer_id::text, name, NULL, NULL FROM offers
      WHERE offer_id = ANY (${idsOf('offer')}::bigint[])
    UNION ALL SELECT 'advertiser', advertiser_id::text, name, NULL, NULL FROM advertisers
      WHERE advertiser_id = ANY (${idsOf('advertiser')}::bigint[])
    UNION ALL SELECT 'locker', locker_id::text, settings->>'name', publisher_id, app_id FROM lockers JOIN apps USING (app_id)
      WHERE locker_id = ANY (${idsOf('locker')}::bigint[])
    UNION ALL SELECT 'feed', feed_id::text, name, NULL, NULL FROM feeds
      WHERE feed_id = ANY (${idsOf('feed')}::bigint[])
    UNION ALL SELECT 'person', id::text, name, publisher_id, NULL FROM people
      WHERE id = ANY (${idsOf('person')}::uuid[])`.execute(db)
  return new Map(rows.map((row) => [keyOf(row), row]))
}
