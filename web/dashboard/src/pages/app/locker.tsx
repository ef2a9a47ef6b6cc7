import { Alert, Anchor, SimpleGrid, Stack } from '@mantine/core'
import { Link, useLocation, useParams } from 'wouter'
import { formatCount } from '../../lib/format.ts'
import { useGet } from '../../lib/queries.ts'
import { LockerCode } from '../../parts/lockers/code.tsx'
import { KINDS, type Locker, openedOf, stateOf, unlockRateOf } from '../../parts/lockers/data.ts'
import { LockerForm } from '../../parts/lockers/form.tsx'
import { Loaded, Page } from '../../parts/page.tsx'
import { Figure } from '../../parts/reports/figure.tsx'
import { Status } from '../../parts/status.tsx'

export default function LockerPage() {
  const { app_id, locker_id } = useParams<{ app_id: string; locker_id: string }>()
  return locker_id === 'new' ? (
    <NewLocker appId={app_id} />
  ) : (
    <KnownLocker key={locker_id} appId={app_id} id={locker_id} />
  )
}

function NewLocker({ appId }: { appId: string }) {
  const app = useGet(`/apps/${appId}`)
  const wall = useGet(`/apps/${appId}/wall`)
  const [, go] = useLocation()
  return (
    <Page title="New locker">
      <Loaded query={app}>
        {({ currency }) => (
          <Loaded query={wall}>
            {(look) => (
              <LockerForm
                appId={appId}
                currency={currency}
                wall={look}
                locker={null}
                onCreate={({ locker_id }) => go(`/apps/${appId}/lockers/${locker_id}`)}
              />
            )}
          </Loaded>
        )}
      </Loaded>
    </Page>
  )
}

function KnownLocker({ appId, id }: { appId: string; id: string }) {
  const app = useGet(`/apps/${appId}`)
  const locker = useGet(`/apps/${appId}/lockers/${id}`)
  const wall = useGet(`/apps/${appId}/wall`)
  return (
    <Loaded query={app}>
      {({ currency, api_url }) => (
        <Loaded query={locker}>
          {(data) => (
            <Page
              title={data.settings.name}
              about={`${KINDS[data.kind]} locker ${data.locker_id}`}
              actions={<Status value={stateOf(data)} />}
            >
              {data.taken_down_reason !== null && (
                <Alert color="red" title="Taken down by the operator" role="alert">
                  {data.taken_down_reason} The locker cannot be used until the operator restores it.
                </Alert>
              )}
              <Stack gap="lg">
                <Figures appId={appId} locker={data} />
                <LockerCode locker={data} server={new URL(api_url).origin} />
                <Loaded query={wall}>
                  {(look) => <LockerForm appId={appId} currency={currency} wall={look} locker={data} />}
                </Loaded>
              </Stack>
            </Page>
          )}
        </Loaded>
      )}
    </Loaded>
  )
}

function Figures({ appId, locker }: { appId: string; locker: Locker }) {
  const earnings = (
    <Anchor component={Link} size="sm" href={`/apps/${appId}/reports?by=locker_id`}>
      Clicks, conversions and payout
    </Anchor>
  )
  return (
    <Stack gap="xs">
      <SimpleGrid cols={{ base: 2, sm: 4 }}>
        <Figure label="Views" value={formatCount(locker.views)} meaning="How often visitors were shown the locker." />
        <Figure label="Unlocks" value={formatCount(locker.unlocks)} meaning="How often visitors unlocked it." />
        <Figure label="Unlock rate" value={unlockRateOf(locker)} meaning="Unlocks as a share of views." />
        {locker.kind === 'link' && (
          <Figure label="Opened" value={openedOf(locker)} meaning="How often the link was opened after an unlock." />
        )}
      </SimpleGrid>
      <div>{earnings}</div>
    </Stack>
  )
}
