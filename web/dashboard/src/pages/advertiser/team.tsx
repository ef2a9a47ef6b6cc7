import { useParams } from 'wouter'
import { mayWrite, useMe } from '../../lib/me.ts'
import { People } from '../../parts/people.tsx'

const ROLES = [
  { value: 'advertiser', label: 'Advertiser', about: 'Sees and changes everything in this advertiser’s account.' },
]

export default function Team() {
  const { advertiser_id } = useParams<{ advertiser_id: string }>()
  return (
    <People
      base={`/advertisers/${advertiser_id}`}
      about="Everyone with access to this advertiser’s account. The operator invites and disables members."
      roles={ROLES}
      ownerRole="advertiser"
      mayChange={mayWrite(useMe())}
    />
  )
}
