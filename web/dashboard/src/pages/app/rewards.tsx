import { Stack } from '@mantine/core'
import { useParams } from 'wouter'
import { useGet } from '../../lib/queries.ts'
import { Loaded, Page } from '../../parts/page.tsx'
import { BalanceSection, KindSection } from '../../parts/rewards/balances.tsx'
import { LimitsSection } from '../../parts/rewards/limits.tsx'
import { RoundingSection } from '../../parts/rewards/rounding.tsx'
import { SaleSection } from '../../parts/rewards/sale.tsx'

export default function Rewards() {
  const { app_id } = useParams<{ app_id: string }>()
  const settings = useGet(`/apps/${app_id}/rewards`)
  const app = useGet(`/apps/${app_id}`)
  return (
    <Page title="Rewards" about="How this app rewards its users. Currency and rate are on the Integration page.">
      <Loaded query={app}>
        {(of) => (
          <Loaded query={settings}>
            {(data) => (
              <Stack gap="lg" key={app_id}>
                <SaleSection appId={app_id} settings={data} />
                <RoundingSection appId={app_id} settings={data} app={of} />
                <LimitsSection appId={app_id} settings={data} />
                <BalanceSection appId={app_id} settings={data} />
                <KindSection appId={app_id} settings={data} />
              </Stack>
            )}
          </Loaded>
        )}
      </Loaded>
    </Page>
  )
}
