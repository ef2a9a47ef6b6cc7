import { Tabs } from '@mantine/core'
import { useParams } from 'wouter'
import { useFilters } from '../../lib/use-filters.ts'
import { ContentRulesSection } from '../../parts/offers/content-rules.tsx'
import { OfferList } from '../../parts/offers/offer-list.tsx'
import { VisibilitySection } from '../../parts/offers/visibility.tsx'
import { Page } from '../../parts/page.tsx'

export default function Offers() {
  const { app_id } = useParams<{ app_id: string }>()
  const [filters, change] = useFilters()
  return (
    <Page
      title="Offers"
      about="The offers that users of this app see, exactly as the API and the wall return them, with this app's CR and EPC of the last 30 days. Sort by Recommended for the order of the wall and the reasons for each offer’s position."
    >
      <Tabs
        value={filters['tab'] ?? 'list'}
        onChange={(tab) => change({ tab: tab === 'list' ? null : tab, why: null })}
        keepMounted={false}
      >
        <Tabs.List mb="md">
          <Tabs.Tab value="list">Offers</Tabs.Tab>
          <Tabs.Tab value="rules">Content rules</Tabs.Tab>
          <Tabs.Tab value="why">Offer check</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="list">
          <OfferList appId={app_id} />
        </Tabs.Panel>
        <Tabs.Panel value="rules">
          <ContentRulesSection appId={app_id} />
        </Tabs.Panel>
        <Tabs.Panel value="why">
          <VisibilitySection key={filters['why'] ?? ''} appId={app_id} offerId={filters['why'] ?? ''} />
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}
