// Signals of fraud: what is done about them, and the conversions that had any.
import { Anchor, Select, Stack, Title } from '@mantine/core'
import { useEffect } from 'react'
import { Link } from 'wouter'
import { mayWrite, useMe } from '../../lib/me.ts'
import { useGet } from '../../lib/queries.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { ANY_SIGNAL, choicesOf, oneOf } from '../../lib/words.ts'
import { withQuery } from '../../lib/api.ts'
import { Rules } from '../../parts/fraud/rules.tsx'
import { ConversionTable } from '../../parts/network-conversions/table.tsx'
import { Empty, Loaded, Page } from '../../parts/page.tsx'
import { Pager, usePages } from '../../parts/pager.tsx'

export default function FraudPage() {
  const pages = usePages()
  const fraud = useGet('/fraud', { query: { cursor: pages.cursor } })
  const mayChange = mayWrite(useMe())
  return (
    <Page
      title="Fraud"
      about="Fraud rules and actions. A rule for one offer takes precedence over the rule for all offers. Signals are not visible to publishers."
    >
      <Loaded query={fraud}>
        {(data) => (
          <Rules fraud={data} mayChange={mayChange} pager={<Pager pages={pages} nextCursor={data.next_cursor} />} />
        )}
      </Loaded>
      <Flagged />
    </Page>
  )
}

function Flagged() {
  const [filters, change] = useFilters()
  const signal = oneOf(ANY_SIGNAL, filters['signal']) ?? 'any'
  const pages = usePages()
  useEffect(() => pages.reset(), [signal])
  const found = useGet('/conversions', { query: { signal, cursor: pages.cursor } })
  return (
    <Stack>
      <Title order={2} size="h4">
        Flagged conversions
      </Title>
      <Select
        label="Signal"
        maw={320}
        allowDeselect={false}
        data={choicesOf(ANY_SIGNAL)}
        value={signal}
        onChange={(value) => change({ signal: value === 'any' ? null : value })}
      />
      <Loaded query={found}>
        {({ conversions, next_cursor }) =>
          conversions.length === 0 ? (
            <Empty title="No flagged conversions">
              No conversion has had {signal === 'any' ? 'any signal' : 'this signal'} so far.
            </Empty>
          ) : (
            <Stack>
              <ConversionTable rows={conversions} pager={<Pager pages={pages} nextCursor={next_cursor} />} />
              <Anchor component={Link} href={withQuery('/network/conversions', { view: 'all', signal })} size="sm">
                View and decide
              </Anchor>
            </Stack>
          )
        }
      </Loaded>
    </Stack>
  )
}
