import { Alert, Anchor, Stack, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { Link } from 'wouter'
import { Time } from '../time.tsx'
import type { AppData } from './data.ts'

/** A secret came from a browser: whoever looked at that page could read it. */
export function LeakWarning({ app }: { app: AppData }) {
  const { leak } = app
  if (leak === null || leak.is_over) return null
  return (
    <Alert color="red" icon={<IconAlertTriangle />} title="A secret of this app was in a browser" role="alert">
      <Stack gap={6}>
        <Text size="sm">
          <Time at={leak.at} />, a request with your API secret came from {leak.origin}. Everybody who opens that page
          can read the secret, and report conversions in your name.
        </Text>
        <Text size="sm">
          Call the API from your server only, then make new secrets on the{' '}
          <Anchor component={Link} href={`/apps/${app.app_id}/integration`} c="inherit" underline="always" inherit>
            integration page
          </Anchor>{' '}
          and let the old ones end. We cannot tell whether it was the live or the test secret: this warning goes when
          both are new.
        </Text>
      </Stack>
    </Alert>
  )
}
