import { Anchor, Breadcrumbs, Text } from '@mantine/core'
import { Link } from 'wouter'
import { isOperator, useMe } from '../lib/me.ts'
import { useGet } from '../lib/queries.ts'

type TrailProps = { to: readonly (readonly [name: string, href: string])[]; here: string }

/** The way back. */
export function Trail({ to, here }: TrailProps) {
  return (
    <Breadcrumbs style={{ flexWrap: 'wrap' }}>
      {to.map(([name, href]) => (
        <Anchor key={href} component={Link} href={href} size="sm">
          {name}
        </Anchor>
      ))}
      <Text size="sm" truncate maw="40rem">
        {here}
      </Text>
    </Breadcrumbs>
  )
}

/** For operators, who come to a publisher's own pages from its page; the publisher's people have the menu. */
export function PublisherTrail({ publisherId, here }: { publisherId: string | number; here: string }) {
  const isShown = isOperator(useMe())
  const path = `/publishers/${encodeURIComponent(publisherId)}` as const
  const publisher = useGet(isShown ? path : null)
  if (!isShown) return null
  const name = publisher.data?.name ?? `Publisher ${publisherId}`
  return (
    <Trail
      to={[
        ['Publishers', '/network/publishers'],
        [name, `/network${path}`],
      ]}
      here={here}
    />
  )
}
