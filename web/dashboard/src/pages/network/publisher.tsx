// One publisher: its money, people and apps, and what they are allowed.
import { Button, Paper, SimpleGrid, Stack, Text } from '@mantine/core'
import { Link, useParams } from 'wouter'
import type { Schemas } from '../../lib/api-types.ts'
import { mayWrite, useMe } from '../../lib/me.ts'
import { useGet } from '../../lib/queries.ts'
import { BalanceLabel } from '../../parts/ledger/balance-label.tsx'
import { Money } from '../../parts/money.tsx'
import { Loaded, Page } from '../../parts/page.tsx'
import { PermissionsSection } from '../../parts/permissions/section.tsx'
import { Apps } from '../../parts/publishers/apps.tsx'
import { Notices } from '../../parts/publishers/notices.tsx'
import { Trust } from '../../parts/publishers/trust.tsx'
import { Time } from '../../parts/time.tsx'

type Publisher = Schemas['PublisherReply']

export default function PublisherPage() {
  const { publisher_id } = useParams<{ publisher_id: string }>()
  const mayChange = mayWrite(useMe())
  const found = useGet(`/publishers/${encodeURIComponent(publisher_id)}`)
  const application = useGet(`/publishers/${encodeURIComponent(publisher_id)}/application`)
  return (
    <Page
      title={found.data?.name ?? 'Publisher'}
      about={`Publisher ${publisher_id}`}
      actions={
        found.data !== undefined && (
          <>
            {application.data?.application != null && (
              <Button component={Link} href={`/network/applications/${publisher_id}`} variant="default">
                Application
              </Button>
            )}
            <Button component={Link} href={`/publishers/${publisher_id}/people`} variant="default">
              People
            </Button>
            <Button component={Link} href={`/publishers/${publisher_id}/balance`} variant="default">
              Balance
            </Button>
            <Button
              component={Link}
              href={`/network/conversions?view=all&publisher_id=${publisher_id}`}
              variant="default"
            >
              Conversions
            </Button>
            <Button component={Link} href={`/network/reports?by=offer&publisher_id=${publisher_id}`} variant="default">
              Report
            </Button>
          </>
        )
      }
    >
      <Loaded query={found}>
        {(one) => (
          <Stack key={one.publisher_id}>
            <Figures one={one} />
            <PermissionsSection publisherId={one.publisher_id} />
            <Apps publisherId={one.publisher_id} apps={one.apps} mayChange={mayChange} />
            <Notices publisherId={one.publisher_id} email={one.email} mayChange={mayChange} />
            <Trust apps={one.apps} mayChange={mayChange} />
          </Stack>
        )}
      </Loaded>
    </Page>
  )
}

function Figures({ one }: { one: Publisher }) {
  const figures = [
    { key: 'pending', name: <BalanceLabel of="pending" />, value: <Money amount={one.pending} /> },
    { key: 'payable', name: <BalanceLabel of="payable" />, value: <Money amount={one.payable} /> },
    { key: 'paid', name: 'Paid so far', value: <Money amount={one.paid} /> },
    { key: 'last', name: 'Last conversion', value: <Time at={one.last_conversion_at} ago none="never" /> },
  ]
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }}>
      {figures.map(({ key, name, value }) => (
        <Paper key={key}>
          <Text size="xs" c="dimmed" component="div">
            {name}
          </Text>
          <Text fw={600} component="div">
            {value}
          </Text>
        </Paper>
      ))}
    </SimpleGrid>
  )
}
