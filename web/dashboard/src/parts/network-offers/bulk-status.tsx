// Offers chosen in a list, to pause or resume them together.
import { Affix, Button, Checkbox, Group, Paper, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useEffect, useState } from 'react'
import type { Schemas } from '../../lib/api-types.ts'
import { post } from '../../lib/api.ts'
import { formatCount, formatNoun } from '../../lib/format.ts'
import { useChange } from '../../lib/queries.ts'
import { confirm } from '../confirm.tsx'
import type { Column } from '../data-table.tsx'

type Offer = Schemas['NetworkOfferList']['offers'][number]
type Selection = {
  chosen: ReadonlySet<number>
  choose: (ids: number[], isChosen: boolean) => void
  clear: () => void
}

/** `of`: what is listed. Nothing stays chosen that is out of sight. */
export function useSelection(of: string): Selection {
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set())
  const clear = () => setChosen(new Set())
  useEffect(clear, [of])
  const choose = (ids: number[], isChosen: boolean) => {
    const others = [...chosen].filter((id) => !ids.includes(id))
    setChosen(new Set(isChosen ? [...others, ...ids] : others))
  }
  return { chosen, choose, clear }
}

export function selectColumn(offers: readonly Offer[], { chosen, choose }: Selection): Column<Offer> {
  const ids = offers.map(({ offer_id }) => offer_id)
  const count = ids.filter((id) => chosen.has(id)).length
  return {
    name: 'Select',
    header: (
      <Checkbox
        aria-label="Select all on this page"
        checked={count > 0 && count === ids.length}
        indeterminate={count > 0 && count < ids.length}
        onChange={(event) => choose(ids, event.currentTarget.checked)}
      />
    ),
    cell: ({ offer_id, name }) => (
      <Checkbox
        aria-label={`Select ${name}`}
        checked={chosen.has(offer_id)}
        onChange={(event) => choose([offer_id], event.currentTarget.checked)}
      />
    ),
  }
}

const offersOf = (count: number) => formatNoun(count, 'offer')

const VERBS = {
  paused: {
    verb: 'Pause',
    done: 'paused',
    effect: 'The offers leave all lists within a second. Users who have already clicked can still convert.',
  },
  active: { verb: 'Resume', done: 'resumed', effect: 'The offers return to the lists within a second.' },
} as const

/** What can be done with the chosen offers; it stays in sight. */
export function BulkStatus({ offers, onDone }: { offers: readonly Offer[]; onDone: () => void }) {
  const set = useChange(
    ({ status, ids }: { status: keyof typeof VERBS; ids: number[] }) =>
      post('/offers/status', { offer_ids: ids, status }).then((change) => ({ ...change, status })),
    {
      refresh: ['/offers'],
      onDone: ({ status, changed, unchanged }) => {
        const already = unchanged.length === 0 ? '' : ` ${offersOf(unchanged.length)} already ${VERBS[status].done}.`
        notifications.show({ message: `${offersOf(changed.length)} ${VERBS[status].done}.${already}`, color: 'green' })
        onDone()
      },
    },
  )
  if (offers.length === 0) return null
  const ask = async (status: keyof typeof VERBS, ids: number[]) => {
    const { verb, effect } = VERBS[status]
    const title = `${verb} ${offersOf(ids.length)}?`
    if (await confirm({ title, text: effect, action: `${verb} ${offersOf(ids.length)}` })) set.mutate({ status, ids })
  }
  return (
    <Affix position={{ bottom: 16, right: 16 }} zIndex={100}>
      <Paper shadow="md" role="region" aria-label="Selected offers" p="sm">
        <Group gap="xs" justify="flex-end">
          <Text size="sm" role="status">
            {formatCount(offers.length)} selected
          </Text>
          {(['paused', 'active'] as const).map((status) => {
            const ids = offers.filter((offer) => offer.status !== status).map(({ offer_id }) => offer_id)
            return ids.length === 0 ? null : (
              <Button
                key={status}
                size="xs"
                variant="default"
                loading={set.isPending}
                onClick={() => void ask(status, ids)}
              >
                {VERBS[status].verb} {formatCount(ids.length)}
              </Button>
            )
          })}
        </Group>
      </Paper>
    </Affix>
  )
}
