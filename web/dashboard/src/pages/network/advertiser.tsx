import { Button, Stack, Tabs } from '@mantine/core'
import { IconChartBar, IconListDetails, IconPlus, IconUsers } from '@tabler/icons-react'
import { useState } from 'react'
import { Link, useParams } from 'wouter'
import { mayWrite, useMe } from '../../lib/me.ts'
import { useGet } from '../../lib/queries.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { BudgetSection } from '../../parts/advertisers/budget.tsx'
import { CallRulesSection } from '../../parts/advertisers/call-rules.tsx'
import { Calls } from '../../parts/advertisers/calls.tsx'
import { AddressSection, AliasSection, AmountSection, StatusSection } from '../../parts/advertisers/settings.tsx'
import { PublisherSection } from '../../parts/advertisers/publishers-seen.tsx'
import { SignatureSection } from '../../parts/advertisers/signature.tsx'
import { type AdvertiserData, TokenSection } from '../../parts/advertisers/token.tsx'
import { UrlsSection } from '../../parts/advertisers/urls.tsx'
import { Loaded, Page } from '../../parts/page.tsx'
import { Time } from '../../parts/time.tsx'

export default function Advertiser() {
  const { advertiser_id } = useParams<{ advertiser_id: string }>()
  return <Known key={advertiser_id} advertiserId={advertiser_id} />
}

function Known({ advertiserId }: { advertiserId: string }) {
  const advertiser = useGet(`/advertisers/${advertiserId}`)
  return <Loaded query={advertiser}>{(data) => <Shown advertiser={data} />}</Loaded>
}

function Shown({ advertiser }: { advertiser: AdvertiserData }) {
  const mayChange = mayWrite(useMe())
  const [filters, change] = useFilters()
  // Known only to this page, and only until one leaves it.
  const [token, setToken] = useState<string | null>(null)
  const { advertiser_id, name, created_at } = advertiser
  const onTab = (tab: string | null) =>
    change({ tab: tab === 'integration' ? null : tab, outcome: null, click_id: null })
  return (
    <Page
      title={name}
      about={
        <>
          Advertiser {advertiser_id} · created <Time at={created_at} ago />
        </>
      }
      actions={
        <>
          <Button
            component={Link}
            href={`/network/offers?advertiser_id=${advertiser_id}`}
            variant="default"
            leftSection={<IconListDetails size={16} />}
          >
            Offers
          </Button>
          <Button
            component={Link}
            href={`/advertisers/${advertiser_id}/people`}
            variant="default"
            leftSection={<IconUsers size={16} />}
          >
            People
          </Button>
          <Button
            component={Link}
            href={`/network/reports?by=offer&advertiser_id=${advertiser_id}`}
            variant="default"
            leftSection={<IconChartBar size={16} />}
          >
            Report
          </Button>
          {mayChange && (
            <Button
              component={Link}
              href={`/network/offers/new?advertiser_id=${advertiser_id}`}
              leftSection={<IconPlus size={16} />}
            >
              New offer
            </Button>
          )}
        </>
      }
    >
      <Tabs value={filters['tab'] ?? 'integration'} onChange={onTab} keepMounted={false}>
        <Tabs.List mb="lg">
          <Tabs.Tab value="integration">Integration</Tabs.Tab>
          <Tabs.Tab value="dialect">Callback settings</Tabs.Tab>
          <Tabs.Tab value="calls">Callbacks</Tabs.Tab>
          <Tabs.Tab value="budget">Budget</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="integration">
          <Stack gap="lg">
            <TokenSection advertiser={advertiser} mayChange={mayChange} token={token} onToken={setToken} />
            <UrlsSection advertiserId={advertiser_id} token={token} />
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="dialect">
          <Stack gap="lg">
            <AddressSection advertiser={advertiser} mayChange={mayChange} />
            <StatusSection advertiser={advertiser} mayChange={mayChange} />
            <AliasSection advertiser={advertiser} mayChange={mayChange} />
            <AmountSection advertiser={advertiser} mayChange={mayChange} />
            <CallRulesSection advertiser={advertiser} mayChange={mayChange} />
            <SignatureSection advertiser={advertiser} mayChange={mayChange} />
            <PublisherSection advertiser={advertiser} mayChange={mayChange} />
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="calls">
          <Calls advertiserId={advertiser_id} />
        </Tabs.Panel>
        <Tabs.Panel value="budget">
          <BudgetSection advertiserId={advertiser_id} mayChange={mayChange} />
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}
