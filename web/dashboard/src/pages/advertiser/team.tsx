import { useParams } from 'wouter'
import { mayWrite, useMe } from '../../lib/me.ts'
import { People } from '../../parts/people.tsx'

const ROLES = [{ value: 'advertiser', label: 'Advertiser', about: 'Sees and changes what belongs to the advertiser.' }]

export default function Team() {
  const { advertiser_id } = useParams<{ advertiser_id: string }>()
  return (
    <People
      base={`/advertisers/${advertiser_id}`}
      about="Everyone who signs in for this advertiser. The operator of the network invites and disables them."
      roles={ROLES}
      ownerRole="advertiser"
      mayChange={mayWrite(useMe())}
    />
  )
}
