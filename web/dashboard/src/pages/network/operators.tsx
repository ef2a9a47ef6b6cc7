import { mayWrite, useMe } from '../../lib/me.ts'
import { People } from '../../parts/people.tsx'

const ROLES = [
  { value: 'operator', label: 'Everything' },
  { value: 'operator_reader', label: 'Look only' },
]

export default function Operators() {
  return (
    <People
      base="/operators"
      about="Those who run this network. People of a publisher are on its own page."
      roles={ROLES}
      mayChange={mayWrite(useMe())}
    />
  )
}
