// For which offers an app's word is taken.
import { Button, Group, Select, SimpleGrid, Stack, Switch, Text } from '@mantine/core'
import { modals } from '@mantine/modals'
import { useEffect } from 'react'
import type { Schemas } from '../../lib/api-types.ts'
import { post } from '../../lib/api.ts'
import { useChange, useGet } from '../../lib/queries.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { choicesOf, oneOf, TRUSTED } from '../../lib/words.ts'
import { type Column, DataTable } from '../data-table.tsx'
import { Empty, Loaded } from '../page.tsx'
import { Pager, usePages } from '../pager.tsx'
import { SearchInput } from '../search-input.tsx'
import { Section } from '../section.tsx'
import { Status } from '../status.tsx'
import { Time } from '../time.tsx'
import type { App } from './apps.tsx'

type Offer = Schemas['TrustList']['offers'][number]

export function Trust({ apps, mayChange }: { apps: App[]; mayChange: boolean }) {
  const [filters, change] = useFilters()
  const app = apps.find((one) => String(one.app_id) === filters['app']) ?? apps[0]
  if (app === undefined) return null
  return (
    <Section
      title="Trust"
      about="Reports of a trusted app are approved immediately, without the advertiser. Trust an app only for offers whose completion it can verify itself. Approved conversions stay approved if you stop trusting the app."
    >
      <SimpleGrid cols={{ base: 1, xs: 3 }}>
        <Select
          label="App"
          allowDeselect={false}
          searchable
          limit={50}
          nothingFoundMessage="No app matches"
          data={apps.map((one) => ({ value: String(one.app_id), label: one.name }))}
          value={String(app.app_id)}
          onChange={(value) => change({ app: value })}
        />
        <SearchInput
          label="Search offers"
          placeholder="Name or ID"
          value={filters['offer']}
          onChange={(offer) => change({ offer })}
        />
        <Select
          label="Show"
          allowDeselect={false}
          data={[{ value: 'any', label: 'all offers' }, ...choicesOf(TRUSTED)]}
          value={filters['trusted'] ?? 'any'}
          onChange={(value) => change({ trusted: value === 'any' ? null : value })}
        />
      </SimpleGrid>
      <Offers app={app} search={filters['offer']} trusted={filters['trusted']} mayChange={mayChange} />
    </Section>
  )
}

type OffersProps = { app: App; search: string | undefined; trusted: string | undefined; mayChange: boolean }

function Offers({ app, search, trusted, mayChange }: OffersProps) {
  const base = `/apps/${app.app_id}/trust` as const
  const pages = usePages()
  useEffect(() => pages.reset(), [app.app_id, search, trusted])
  const found = useGet(base, {
    query: { search, trusted: oneOf(TRUSTED, trusted), limit: 10, cursor: pages.cursor },
  })
  const change = useChange((body: { trusted: boolean; offer_ids?: number[] }) => post(base, body), {
    refresh: [base, '/publishers'],
    done: 'Saved.',
  })
  const askForAll = (isTrusted: boolean) =>
    modals.openConfirmModal({
      withCloseButton: false,
      title: isTrusted ? `Trust ${app.name} for all offers?` : `Stop trusting ${app.name}?`,
      children: (
        <Text size="sm">
          {isTrusted
            ? 'Everything this app reports for current offers will be approved immediately and paid. Offers created later are not included.'
            : 'New reports will wait for the advertiser or your decision.'}
        </Text>
      ),
      labels: { confirm: isTrusted ? 'Trust for all offers' : 'Stop trusting', cancel: 'Cancel' },
      confirmProps: { color: 'red' },
      onConfirm: () => change.mutate({ trusted: isTrusted }),
    })
  const trustColumn: Column<Offer> = {
    name: 'Trusted',
    cell: (offer) => (
      <Switch
        aria-label={`Trust ${app.name} for ${offer.name}`}
        checked={offer.trusted_since !== null}
        disabled={!mayChange || change.isPending}
        onChange={(event) => change.mutate({ trusted: event.currentTarget.checked, offer_ids: [offer.offer_id] })}
      />
    ),
  }
  return (
    <Stack>
      {mayChange && (
        <Group gap="xs">
          <Button size="xs" variant="default" onClick={() => askForAll(true)}>
            Trust for all offers
          </Button>
          <Button size="xs" variant="default" onClick={() => askForAll(false)}>
            Stop trusting
          </Button>
        </Group>
      )}
      <Loaded query={found}>
        {({ offers, next_cursor }) => (
          <DataTable
            rows={offers}
            columns={[...COLUMNS, trustColumn]}
            rowKey={({ offer_id }) => offer_id}
            minWidth={480}
            isPlain
            empty={<Empty title="No offer matches">Change the search, or show all offers.</Empty>}
            pager={<Pager pages={pages} nextCursor={next_cursor} />}
          />
        )}
      </Loaded>
    </Stack>
  )
}

const COLUMNS: Column<Offer>[] = [
  {
    name: 'Offer',
    isText: true,
    cell: ({ name, offer_id }) => (
      <>
        <Text size="sm">{name}</Text>
        <Text size="xs" c="dimmed">
          ID {offer_id}
        </Text>
      </>
    ),
  },
  { name: 'Status', cell: ({ status }) => <Status value={status} /> },
  { name: 'Trusted since', cell: ({ trusted_since }) => <Time at={trusted_since} ago /> },
]
