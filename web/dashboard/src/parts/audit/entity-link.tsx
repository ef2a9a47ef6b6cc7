import { Anchor, type AnchorProps } from '@mantine/core'
import { Link } from 'wouter'
import type { Schemas } from '../../lib/api-types.ts'

export type Named = NonNullable<Schemas['AuditList']['entries'][number]['target']>

function pageOf({ kind, id, publisher_id, app_id }: Named): string {
  if (kind === 'app') return `/apps/${id}`
  if (kind === 'locker') return `/apps/${app_id}/lockers/${id}`
  if (kind === 'import') return `/network/offers/import?import=${id}`
  if (kind === 'person') return publisher_id === null ? '/network/people' : `/publishers/${publisher_id}/people`
  return `/network/${kind}s/${id}`
}

/** Something by its name, with the way to its page. */
export function EntityLink({ of, ...props }: { of: Named } & AnchorProps) {
  return (
    <Anchor component={Link} href={pageOf(of)} {...props}>
      {of.name}
    </Anchor>
  )
}
