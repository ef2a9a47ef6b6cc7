import { useParams } from 'wouter'
import { isOwner, useMe } from '../../lib/me.ts'
import { People } from '../../parts/people.tsx'

const ROLES = [
  { value: 'publisher_member', label: 'Member' },
  { value: 'publisher_owner', label: 'Owner' },
]

export default function Team() {
  const { publisher_id } = useParams<{ publisher_id: string }>()
  return (
    <People
      base={`/publishers/${publisher_id}`}
      about="Owners can do everything. Members can do all but invite people and change secrets."
      roles={ROLES}
      mayChange={isOwner(useMe())}
    />
  )
}
