// For which offers an app's word is taken.
import { Button, Group, Select, SimpleGrid, Stack, Switch, Table, Text, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { modals } from '@mantine/modals'
import { useEffect, useState } from 'react'
import type { TrustChanged, TrustList } from '../../../../../src/manage/publishers/schema.ts'
import { post, query, type Reply } from '../../lib/api.ts'
import { useChange, useGet } from '../../lib/queries.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { Empty, Loaded } from '../page.tsx'
import { Pager, usePages } from '../pager.tsx'
import { Section } from '../section.tsx'
import { Status } from '../status.tsx'
import { Time } from '../time.tsx'
import type { App } from './apps.tsx'

export function Trust({ apps, mayChange }: { apps: App[]; mayChange: boolean }) {
  const [filters, change] = useFilters()
  const app = apps.find((one) => String(one.app_id) === filters['app']) ?? apps[0]
  const [typed, setTyped] = useState(filters['offer'] ?? '')
  const commit = useDebouncedCallback((offer: string) => change({ offer }), 300)
  if (app === undefined) return null
  return (
    <Section
      title="Trust"
      about="Reports of a trusted app are approved at once, without the advertiser. Trust it only for offers whose completion it can see itself. What is approved stays so when trust ends."
    >
      <SimpleGrid cols={{ base: 1, xs: 3 }}>
        <Select
          label="App"
          allowDeselect={false}
          data={apps.map((one) => ({ value: String(one.app_id), label: one.name }))}
          value={String(app.app_id)}
          onChange={(value) => change({ app: value })}
        />
        <TextInput
          label="Search offers"
          placeholder="Name or id"
          maxLength={200}
          value={typed}
          onChange={(event) => {
            setTyped(event.currentTarget.value)
            commit(event.currentTarget.value.trim())
          }}
        />
        <Select
          label="Show"
          allowDeselect={false}
          data={[
            { value: 'any', label: 'all offers' },
            { value: 'yes', label: 'trusted only' },
            { value: 'no', label: 'not trusted only' },
          ]}
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
  const base = `/apps/${app.app_id}/trust`
  const pages = usePages()
  useEffect(() => pages.reset(), [app.app_id, search, trusted])
  const found = useGet<Reply<typeof TrustList>>(`${base}${query({ search, trusted, limit: 10, cursor: pages.cursor })}`)
  const change = useChange(
    (body: { trusted: boolean; offer_ids?: number[] }) => post<Reply<typeof TrustChanged>>(base, body),
    { refresh: [base, '/publishers'], done: 'Saved.' },
  )
  const askForAll = (isTrusted: boolean) =>
    modals.openConfirmModal({
      withCloseButton: false,
      title: isTrusted ? `Trust ${app.name} for all offers?` : `Trust ${app.name} for no offer?`,
      children: (
        <Text size="sm">
          {isTrusted
            ? 'Whatever it reports for any offer that there is now is approved, and paid, at once. Offers made later are not included.'
            : 'What it reports from now on waits for the advertiser, or for you.'}
        </Text>
      ),
      labels: { confirm: isTrusted ? 'Trust it for all' : 'Trust it for none', cancel: 'Cancel' },
      confirmProps: { color: 'red' },
      onConfirm: () => change.mutate({ trusted: isTrusted }),
    })
  return (
    <Stack>
      {mayChange && (
        <Group gap="xs">
          <Button size="xs" variant="default" onClick={() => askForAll(true)}>
            Trust for all offers
          </Button>
          <Button size="xs" variant="default" onClick={() => askForAll(false)}>
            Trust for none
          </Button>
        </Group>
      )}
      <Loaded query={found}>
        {({ offers, next_cursor }) =>
          offers.length === 0 ? (
            <Empty title="No such offers">Change the search, or show all offers.</Empty>
          ) : (
            <>
              <Table.ScrollContainer minWidth={480}>
                <Table>
                  <Table.Thead>
                    <Table.Tr>
                      <Table.Th>Trusted</Table.Th>
                      <Table.Th>Offer</Table.Th>
                      <Table.Th>Status</Table.Th>
                      <Table.Th>Since</Table.Th>
                    </Table.Tr>
                  </Table.Thead>
                  <Table.Tbody>
                    {offers.map((offer) => (
                      <Table.Tr key={offer.offer_id}>
                        <Table.Td>
                          <Switch
                            aria-label={`Trust ${app.name} for ${offer.name}`}
                            checked={offer.trusted_since !== null}
                            disabled={!mayChange || change.isPending}
                            onChange={(event) =>
                              change.mutate({ trusted: event.currentTarget.checked, offer_ids: [offer.offer_id] })
                            }
                          />
                        </Table.Td>
                        <Table.Td>
                          <Text size="sm">{offer.name}</Text>
                          <Text size="xs" c="dimmed">
                            id {offer.offer_id}
                          </Text>
                        </Table.Td>
                        <Table.Td>
                          <Status value={offer.status} />
                        </Table.Td>
                        <Table.Td>
                          <Time at={offer.trusted_since} ago />
                        </Table.Td>
                      </Table.Tr>
                    ))}
                  </Table.Tbody>
                </Table>
              </Table.ScrollContainer>
              <Pager pages={pages} nextCursor={next_cursor} />
            </>
          )
        }
      </Loaded>
    </Stack>
  )
}
