import { mayWrite, useMe } from '../../lib/me.ts'
import { People } from '../../parts/people.tsx'

const ROLES = [
  { value: 'operator', label: 'Operator', about: 'Can do everything on this network.' },
  { value: 'operator_reader', label: 'Read only', about: 'Sees everything but can’t change anything.' },
]

export default function Operators() {
  return (
    <People
      base="/operators"
      about="The operators of this network. A publisher’s people are on the publisher’s page."
      roles={ROLES}
      ownerRole="operator"
      mayChange={mayWrite(useMe())}
    />
  )
}
