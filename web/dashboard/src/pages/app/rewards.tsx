import { Stack } from '@mantine/core'
import { useParams } from 'wouter'
import { useGet } from '../../lib/queries.ts'
import { Loaded, Page } from '../../parts/page.tsx'
import { BalanceSection, KindSection } from '../../parts/rewards/balances.tsx'

export default function Rewards() {
  const { app_id } = useParams<{ app_id: string }>()
  const settings = useGet(`/apps/${app_id}/rewards`)
  return (
    <Page title="Rewards" about="How this app rewards its users. Currency and rate are on the Integration page.">
      <Loaded query={settings}>
        {(data) => (
          <Stack gap="lg" key={app_id}>
            <BalanceSection appId={app_id} settings={data} />
            <KindSection appId={app_id} settings={data} />
          </Stack>
        )}
      </Loaded>
    </Page>
  )
}
