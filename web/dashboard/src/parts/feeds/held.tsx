import { Anchor, Button, Checkbox, Stack } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'wouter'
import { post } from '../../lib/api.ts'
import { formatNoun, formatUsd } from '../../lib/format.ts'
import { useChange, useGet } from '../../lib/queries.ts'
import { DataTable } from '../data-table.tsx'
import { Empty, Loaded } from '../page.tsx'
import { Pager, usePages } from '../pager.tsx'

/** Payouts that changed by more than the feed's bound. */
export function HeldPayouts({ feedId, mayChange }: { feedId: number; mayChange: boolean }) {
  const pages = usePages()
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const found = useGet(`/feeds/${feedId}/held`, { query: { cursor: pages.cursor, limit: 50 } })
  const approve = useChange((ids: string[]) => post(`/feeds/${feedId}/approve`, { external_ids: ids }), {
    refresh: ['/feeds'],
    onDone: () => setChosen(new Set()),
    done: 'Approved. The payouts change with the next run, which starts now.',
  })
  const toggle = (id: string) =>
    setChosen((before) => new Set([...before, id].filter((one) => one !== id || !before.has(id))))
  return (
    <Loaded query={found}>
      {({ offers, next_cursor }) => (
        <Stack>
          {mayChange && offers.length > 0 && (
            <Button
              style={{ alignSelf: 'flex-start' }}
              disabled={chosen.size === 0}
              loading={approve.isPending}
              onClick={() => approve.mutate([...chosen])}
            >
              {chosen.size === 0 ? 'Approve' : `Approve ${formatNoun(chosen.size, 'payout')}`}
            </Button>
          )}
          <DataTable
            label="Payout changes awaiting approval"
            rows={offers}
            rowKey={({ external_id }) => external_id}
            pager={<Pager pages={pages} nextCursor={next_cursor} />}
            empty={
              <Empty title="No payout changes awaiting approval">
                Under Settings, choose how large a change needs your approval.
              </Empty>
            }
            columns={[
              mayChange && {
                name: 'Select',
                header: (
                  <Checkbox
                    aria-label="Select all"
                    checked={offers.length > 0 && offers.every(({ external_id }) => chosen.has(external_id))}
                    onChange={({ currentTarget: { checked } }) =>
                      setChosen(new Set(checked ? offers.map(({ external_id }) => external_id) : []))
                    }
                  />
                ),
                cell: ({ external_id, name }) => (
                  <Checkbox
                    aria-label={`Select ${name}`}
                    checked={chosen.has(external_id)}
                    onChange={() => toggle(external_id)}
                  />
                ),
              },
              {
                name: 'Offer',
                isText: true,
                cell: ({ offer_id, name }) => (
                  <Anchor component={Link} href={`/network/offers/${offer_id}`} size="sm">
                    {name}
                  </Anchor>
                ),
              },
              { name: 'Payout', isNumber: true, cell: ({ payout_before }) => formatUsd(payout_before) },
              { name: 'New payout', isNumber: true, cell: ({ payout_after }) => formatUsd(payout_after) },
            ]}
          />
        </Stack>
      )}
    </Loaded>
  )
}
