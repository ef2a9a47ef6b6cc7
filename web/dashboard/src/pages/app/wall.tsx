import { Stack } from '@mantine/core'
import { useParams } from 'wouter'
import { useGet } from '../../lib/queries.ts'
import { Loaded, Page } from '../../parts/page.tsx'
import { WallCode } from '../../parts/wall/code.tsx'
import { WallForm } from '../../parts/wall/form.tsx'
import { WallFunnel } from '../../parts/wall/funnel.tsx'

export default function Wall() {
  const { app_id } = useParams<{ app_id: string }>()
  return <WallOf key={app_id} appId={app_id} />
}

function WallOf({ appId }: { appId: string }) {
  const app = useGet(`/apps/${appId}`)
  const settings = useGet(`/apps/${appId}/wall`)
  return (
    <Page
      title="Wall"
      about="A ready-made page of offers for your site or app. Users see rewards, never what you earn."
    >
      <Loaded query={app}>
        {(data) => (
          <Stack gap="lg">
            <WallFunnel appId={appId} />
            <WallCode app={data} />
            <Loaded query={settings}>{(known) => <WallForm app={data} settings={known} />}</Loaded>
          </Stack>
        )}
      </Loaded>
    </Page>
  )
}
