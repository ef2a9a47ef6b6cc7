import { Paper, Stack, Text } from '@mantine/core'
import type { Schemas } from '../../lib/api-types.ts'
import { useGet } from '../../lib/queries.ts'
import { DataTable } from '../data-table.tsx'
import { Value } from '../field-value.tsx'
import { Empty, Loaded } from '../page.tsx'
import { Pager, usePages } from '../pager.tsx'
import { Time } from '../time.tsx'

type HistoryData = Schemas['OfferHistory']

const ACTIONS: Record<string, string> = {
  'offer.create': 'created the offer',
  'offer.change': 'edited the offer',
  'offer.pause': 'paused the offer',
  'offer.resume': 'resumed the offer',
  'offer.import': 'updated the offer by import',
  'offer.import_new': 'created the offer by import',
}

/** Who changed an offer, and what. */
export function History({ offerId }: { offerId: number }) {
  const pages = usePages()
  const history = useGet(`/offers/${offerId}/history`, { query: { cursor: pages.cursor } })
  return (
    <Loaded query={history}>
      {({ changes, next_cursor }) =>
        changes.length === 0 ? (
          <Empty title="No changes yet">Edits and imports are listed here, with the values before and after.</Empty>
        ) : (
          <Stack>
            {changes.map((change) => (
              <Change key={change.audit_id} change={change} />
            ))}
            <Pager pages={pages} nextCursor={next_cursor} />
          </Stack>
        )
      }
    </Loaded>
  )
}

function Change({ change }: { change: HistoryData['changes'][number] }) {
  return (
    <Paper>
      <Text size="sm" component="div">
        <b>{change.who}</b> {ACTIONS[change.action] ?? change.action} · <Time at={change.created_at} ago />
      </Text>
      {change.fields.length > 0 && (
        <DataTable
          label="Changed fields"
          isPlain
          minWidth={480}
          rows={change.fields}
          rowKey={({ field }) => field}
          columns={[
            { name: 'Field', cell: ({ field }) => field },
            { name: 'Before', isText: true, cell: ({ before }) => <Value value={before} /> },
            { name: 'After', isText: true, cell: ({ after }) => <Value value={after} /> },
          ]}
        />
      )}
    </Paper>
  )
}
