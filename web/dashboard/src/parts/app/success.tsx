// What the first steps end in: everything works, and where to see it.
import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import { IconCircleCheck } from '@tabler/icons-react'
import { Link } from 'wouter'
import type { AppData, ChecklistData } from './data.ts'

const SHOWN_MS = 3 * 86_400_000

/** For a few days after the last step, unless it is closed. */
export function Success({ app, checklist }: { app: AppData; checklist: ChecklistData }) {
  const [isClosed, setClosed] = useLocalStorage({ key: `offerdeck-success-${app.app_id}`, defaultValue: false })
  const lastMs = Math.max(...checklist.steps.map(({ done_at }) => Date.parse(done_at ?? '')))
  if (isClosed || Date.now() - lastMs > SHOWN_MS) return null
  const { first_conversion_id } = checklist
  return (
    <Alert
      color="green"
      icon={<IconCircleCheck aria-hidden />}
      title="Your integration works"
      withCloseButton
      closeButtonLabel="Close"
      onClose={() => setClosed(true)}
    >
      <Stack gap="sm">
        <Text size="sm">
          Your server requested offers and received a postback, and you have your first conversion. In production, use
          the live API key and secret.
        </Text>
        <Group gap="xs">
          {first_conversion_id !== null && (
            <Button component={Link} href={`/apps/${app.app_id}/conversions/${first_conversion_id}`} size="xs">
              View your first conversion
            </Button>
          )}
          <Button component={Link} href={`/apps/${app.app_id}/integration`} variant="default" size="xs">
            View keys
          </Button>
        </Group>
      </Stack>
    </Alert>
  )
}
