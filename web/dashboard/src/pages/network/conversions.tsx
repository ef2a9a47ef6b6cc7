// The conversions that wait for a decision, oldest first; and a search over all.
import { Affix, Button, Group, Paper, SegmentedControl, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useEffect, useState } from 'react'
import { formatCount } from '../../lib/format.ts'
import { mayWrite, useMe } from '../../lib/me.ts'
import { useMode } from '../../lib/mode.ts'
import { useGet } from '../../lib/queries.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { ConversionFilters, searchOf } from '../../parts/network-conversions/filters.tsx'
import { Decide, type Decision, VERBS } from '../../parts/network-conversions/decide.tsx'
import { PasteIds } from '../../parts/network-conversions/paste.tsx'
import { ConversionTable, type Row } from '../../parts/network-conversions/table.tsx'
import type { MoveTo } from '../../parts/network-conversions/use-moves.ts'
import { Empty, Loaded, Page } from '../../parts/page.tsx'
import { FoundSoFar, Pager, usePages } from '../../parts/pager.tsx'

const LIMIT = 50
const VIEWS = [
  { value: 'queue', label: 'Pending' },
  { value: 'all', label: 'All' },
]

export default function Conversions() {
  const mayDecide = mayWrite(useMe())
  const [filters, change] = useFilters()
  const isQueue = filters['view'] !== 'all'
  const pages = usePages()
  const mode = useMode()
  const search = searchOf(filters, isQueue, mode)
  const found = useGet('/conversions', { query: { ...search, limit: LIMIT, cursor: pages.cursor } })
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [decision, setDecision] = useState<Decision | null>(null)
  const [isPasting, { open, close }] = useDisclosure()

  // What is looked for has changed: its first page, and nothing chosen that is out of sight.
  const wanted = JSON.stringify(search)
  useEffect(() => {
    pages.reset()
    setChosen(new Set())
  }, [wanted])
  useEffect(() => setChosen(new Set()), [pages.cursor])

  const choose = (ids: string[], isChosen: boolean) => {
    const others = [...chosen].filter((id) => !ids.includes(id))
    setChosen(new Set(isChosen ? [...others, ...ids] : others))
  }
  const settle = (isDone: boolean) => {
    setDecision(null)
    if (!isDone) return
    setChosen(new Set())
    pages.reset()
  }
  return (
    <Page
      title="Conversions"
      about={
        isQueue ? 'Conversions awaiting a decision, oldest first.' : 'Conversions of all publishers, newest first.'
      }
      actions={
        mayDecide && (
          <Button variant="default" onClick={open}>
            Bulk decide by ID
          </Button>
        )
      }
    >
      <SegmentedControl
        data={VIEWS}
        value={isQueue ? 'queue' : 'all'}
        onChange={(view) => change({ view: view === 'all' ? view : null })}
        aria-label="View"
        maw={320}
      />
      <ConversionFilters {...{ filters, change, isQueue }} />
      <Loaded query={found}>
        {({ conversions, next_cursor }) =>
          conversions.length === 0 && next_cursor !== null ? (
            <FoundSoFar pages={pages} nextCursor={next_cursor} />
          ) : conversions.length === 0 ? (
            <Nothing isQueue={isQueue} isFiltered={wanted !== JSON.stringify(searchOf({}, isQueue, mode))} />
          ) : (
            <Stack pb={chosen.size === 0 ? 0 : 96}>
              <ConversionTable
                rows={conversions}
                selection={mayDecide ? { chosen, choose } : undefined}
                pager={<Pager pages={pages} nextCursor={next_cursor} />}
              />
              <Actions rows={conversions.filter((row) => chosen.has(row.conversion_id))} decide={setDecision} />
            </Stack>
          )
        }
      </Loaded>
      <PasteIds opened={isPasting} onClose={close} onDecide={setDecision} />
      <Decide decision={decision} onClose={settle} />
    </Page>
  )
}

function Nothing({ isQueue, isFiltered }: { isQueue: boolean; isFiltered: boolean }) {
  if (isFiltered) return <Empty title="No conversion matches">Clear a filter, or search all conversions.</Empty>
  return isQueue ? (
    <Empty title="Nothing to decide">
      Conversions appear here when a publisher reports one that no advertiser has confirmed, or when a fraud rule holds
      one.
    </Empty>
  ) : (
    <Empty title="No conversions yet">Conversions appear here when users complete offers.</Empty>
  )
}

const FROM: Record<MoveTo, string> = { approved: 'pending', rejected: 'pending', reversed: 'approved' }

/** What can be done with the chosen rows; it stays in sight. */
function Actions({ rows, decide }: { rows: Row[]; decide: (decision: Decision) => void }) {
  if (rows.length === 0) return null
  return (
    <Affix position={{ bottom: 16, right: 16 }} zIndex={100}>
      <Paper shadow="md" role="region" aria-label="Selected conversions" p="sm">
        <Group gap="xs" justify="flex-end">
          <Text size="sm" role="status">
            {formatCount(rows.length)} selected
          </Text>
          {(['approved', 'rejected', 'reversed'] as const).map((to) => {
            const ids = rows.filter((row) => row.status === FROM[to]).map((row) => row.conversion_id)
            return ids.length === 0 ? null : (
              <Button
                key={to}
                size="xs"
                color={to === 'approved' ? 'green' : 'red'}
                autoContrast
                onClick={() => decide({ to, ids })}
              >
                {VERBS[to]} {formatCount(ids.length)}
              </Button>
            )
          })}
        </Group>
      </Paper>
    </Affix>
  )
}
