import { useParams } from 'wouter'
import { isOwner, useMe } from '../../lib/me.ts'
import { People } from '../../parts/people.tsx'

const ROLES = [
  { value: 'publisher_developer', label: 'Developer', about: 'Sets up apps and postbacks. Does not see the balance.' },
  { value: 'publisher_finance', label: 'Finance', about: 'Sees the balance and sets the apps’ exchange rates.' },
  { value: 'publisher_viewer', label: 'Viewer', about: 'Sees apps and reports but can’t change anything.' },
  { value: 'publisher_owner', label: 'Owner', about: 'Can do everything, including inviting members.' },
]

export default function Team() {
  const { publisher_id } = useParams<{ publisher_id: string }>()
  return (
    <People
      base={`/publishers/${publisher_id}`}
      about="Owners can do everything. Developers set up apps and postbacks, finance sees the balance and sets rates, viewers can’t change anything."
      roles={ROLES}
      ownerRole="publisher_owner"
      mayChange={isOwner(useMe())}
    />
  )
}
