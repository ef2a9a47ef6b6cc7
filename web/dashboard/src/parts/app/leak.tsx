import { Alert, Anchor, Stack, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { Link } from 'wouter'
import { Time } from '../time.tsx'
import type { AppData } from './data.ts'

/** A secret came from a browser: every visitor of that page could read it. */
export function LeakWarning({ app }: { app: AppData }) {
  const leaks = app.credentials.flatMap(({ mode, leak }) => (leak === null || leak.is_over ? [] : [{ mode, ...leak }]))
  if (leaks.length === 0) return null
  return (
    <Alert
      color="red"
      icon={<IconAlertTriangle />}
      title="An API secret of this app was used in a browser"
      role="alert"
    >
      <Stack gap={6}>
        {leaks.map(({ mode, at, origin }) => (
          <Text size="sm" key={mode}>
            <Time at={at} />, a request with your {mode} API secret came from {origin}. Anyone who opens that page can
            read the secret and report {mode === 'live' ? 'conversions' : 'test conversions'} in your name.
          </Text>
        ))}
        <Text size="sm">
          Call the API from your server only. Then create a new {leaks.map(({ mode }) => mode).join(' and ')} secret on
          the{' '}
          <Anchor component={Link} href={`/apps/${app.app_id}/integration`} c="inherit" underline="always" inherit>
            integration page
          </Anchor>{' '}
          and let the old one expire. This warning then disappears.
        </Text>
      </Stack>
    </Alert>
  )
}
