import { Stack } from '@mantine/core'
import { useParams } from 'wouter'
import { isOwner, useMe } from '../../lib/me.ts'
import { People } from '../../parts/people.tsx'
import { PublisherTrail } from '../../parts/trail.tsx'

const ROLES = [
  { value: 'publisher_developer', label: 'Developer' },
  { value: 'publisher_finance', label: 'Finance' },
  { value: 'publisher_viewer', label: 'Viewer' },
  { value: 'publisher_owner', label: 'Owner' },
]

export default function Team() {
  const { publisher_id } = useParams<{ publisher_id: string }>()
  return (
    <Stack>
      <PublisherTrail publisherId={publisher_id} here="People" />
      <People
        base={`/publishers/${publisher_id}`}
        about="Owners can do everything. Developers set up apps and postbacks, finance sees the balance and sets rates, viewers can’t change anything."
        roles={ROLES}
        mayChange={isOwner(useMe())}
      />
    </Stack>
  )
}
