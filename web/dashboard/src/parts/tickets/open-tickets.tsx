import { Alert, Anchor } from '@mantine/core'
import { IconLifebuoy } from '@tabler/icons-react'
import { Link } from 'wouter'
import { useMode } from '../../lib/mode.ts'
import { useGet } from '../../lib/queries.ts'

const MOST_COUNTED = 100

/** The server counts up to here. */
export const countText = (open: number) => (open >= MOST_COUNTED ? `${MOST_COUNTED} or more` : String(open))

/** For everyone who opens the app: not every network sends mail. */
export function OpenTickets({ appId }: { appId: string }) {
  const mode = useMode()
  const open = useGet(`/apps/${appId}/tickets`, { query: { mode, status: 'open', limit: 1 } }).data?.open ?? 0
  if (open === 0) return null
  return (
    <Alert
      color="yellow"
      icon={<IconLifebuoy />}
      title={open === 1 ? '1 ticket waiting for an answer' : `${countText(open)} tickets waiting for an answer`}
    >
      <Anchor component={Link} c="inherit" href={`/apps/${appId}/tickets?status=open`} inherit underline="always">
        Show open tickets
      </Anchor>
    </Alert>
  )
}
