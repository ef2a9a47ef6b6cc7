import { useParams } from 'wouter'
import { isOwner, useMe } from '../../lib/me.ts'
import { People } from '../../parts/people.tsx'

const ROLES = [
  { value: 'publisher_developer', label: 'Developer', about: 'Sets up apps and postbacks. Does not see the balance.' },
  { value: 'publisher_finance', label: 'Finance', about: 'Sees the balance and sets the apps’ exchange rates.' },
  { value: 'publisher_viewer', label: 'Viewer', about: 'Sees apps and reports but can’t change anything.' },
  { value: 'publisher_owner', label: 'Owner', about: 'Can do everything, including inviting members.' },
]

/** Operators may always invite; theirs is no publisher. */
function whyNotInvite({ publisher }: ReturnType<typeof useMe>): string | undefined {
  if (publisher === null) return undefined
  if (publisher.refusal !== null)
    return 'Your application was refused, so you cannot invite members. Contact the operator.'
  if (publisher.status === 'pending') return 'You can invite members once the operator has approved your account.'
  return undefined
}

export default function Team() {
  const me = useMe()
  const { publisher_id } = useParams<{ publisher_id: string }>()
  return (
    <People
      base={`/publishers/${publisher_id}`}
      about="Owners can do everything. Developers set up apps and postbacks, finance sees the balance and sets rates, viewers can’t change anything."
      roles={ROLES}
      ownerRole="publisher_owner"
      mayChange={isOwner(me)}
      whyNotInvite={whyNotInvite(me)}
    />
  )
}
