import { Button } from '@mantine/core'
import { IconSettings } from '@tabler/icons-react'
import { Link, useParams } from 'wouter'
import { useMode } from '../../lib/mode.ts'
import { Page } from '../../parts/page.tsx'
import { Health } from '../../parts/postbacks/health.tsx'
import { Log } from '../../parts/postbacks/log.tsx'
import { ReplayButton, Replays } from '../../parts/postbacks/replays.tsx'

export default function Postbacks() {
  const { app_id } = useParams<{ app_id: string }>()
  const base = `/apps/${app_id}` as const
  return (
    <Page
      title="Postbacks"
      about="Conversion notifications sent to your server."
      actions={
        <Button
          component={Link}
          href={`${base}/postbacks/settings`}
          variant="default"
          leftSection={<IconSettings size={16} />}
        >
          Settings and tests
        </Button>
      }
    >
      <Health base={base} />
      <Replays base={base} />
      <Log key={useMode()} base={base} actions={(filters) => <ReplayButton base={base} filters={filters} />} />
    </Page>
  )
}
