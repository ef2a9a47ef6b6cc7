// One conversion, with everything that is recorded about it.
import { Button, Stack } from '@mantine/core'
import { useState } from 'react'
import { useParams } from 'wouter'
import { mayWrite, useMe } from '../../lib/me.ts'
import { useGet } from '../../lib/queries.ts'
import { Copyable } from '../../parts/copy.tsx'
import { Decide, type Decision, VERBS } from '../../parts/network-conversions/decide.tsx'
import { Entries, Evidence, Facts, History } from '../../parts/network-conversions/details.tsx'
import type { MoveTo } from '../../parts/network-conversions/use-moves.ts'
import { Loaded, Page } from '../../parts/page.tsx'

const POSSIBLE: Record<string, MoveTo[]> = { pending: ['approved', 'rejected'], approved: ['reversed'] }

export default function Conversion() {
  const { conversion_id } = useParams<{ conversion_id: string }>()
  const mayDecide = mayWrite(useMe())
  const found = useGet(`/conversions/${encodeURIComponent(conversion_id)}`)
  const [decision, setDecision] = useState<Decision | null>(null)
  const moves = mayDecide && found.data !== undefined ? (POSSIBLE[found.data.status] ?? []) : []
  return (
    <Page
      title="Conversion"
      about="Details, timeline and ledger entries."
      actions={moves.map((to) => (
        <Button
          key={to}
          color={to === 'approved' ? 'green' : 'red'}
          autoContrast
          onClick={() => setDecision({ to, ids: [conversion_id] })}
        >
          {VERBS[to]}
        </Button>
      ))}
    >
      <Copyable value={conversion_id} label="Copy the conversion ID" />
      <Loaded query={found}>
        {(one) => (
          <Stack>
            <Facts one={one} />
            <Evidence one={one} />
            <History one={one} />
            <Entries one={one} />
          </Stack>
        )}
      </Loaded>
      <Decide decision={decision} onClose={() => setDecision(null)} />
    </Page>
  )
}
