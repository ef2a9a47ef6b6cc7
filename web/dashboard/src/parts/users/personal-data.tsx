// What a user may ask for: all that is known of them, and that it is erased.
import { Alert, Button, Group } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconDownload, IconEraser } from '@tabler/icons-react'
import { post, postForFile } from '../../lib/api.ts'
import type { Schemas } from '../../lib/api-types.ts'
import { isOwner, useMe } from '../../lib/me.ts'
import { useMode } from '../../lib/mode.ts'
import { useChange } from '../../lib/queries.ts'
import { confirm } from '../confirm.tsx'
import { Time } from '../time.tsx'

const QUESTION =
  'Their clicks, conversions and balance stay under a pseudonym, without IP addresses and sub-IDs. Sub-IDs, tickets with images ' +
  'and unlocks are deleted, and log entries are blanked. Queued postbacks are delivered first; later ones carry the pseudonym. A ban ' +
  'stays. A user who returns is treated as new. This cannot be undone.'

export function PersonalDataActions({
  appId,
  userId,
  isErasing,
}: {
  appId: string
  userId: string
  isErasing: boolean
}) {
  const mode = useMode()
  const path = `/apps/${appId}/users/${encodeURIComponent(userId)}` as const
  const download = useChange(() => postForFile(`${path}/export`, { mode }), {
    onDone: (file) => save(file, `user-of-app-${appId}.ndjson`),
  })
  const erase = useChange(() => post(`${path}/erasure`, { mode }), {
    refresh: [`/apps/${appId}/`],
    onDone: ({ erasure }) => notifications.show({ message: erasure === null ? 'There is no data about this user.' : 'The user is being erased.' }), // prettier-ignore
  })
  if (!isOwner(useMe())) return null
  const ask = async () => {
    if (await confirm({ title: `Erase ${userId}?`, text: QUESTION, action: 'Erase user' })) erase.mutate()
  }
  return (
    <Group>
      <Button
        variant="default"
        leftSection={<IconDownload size={16} />}
        loading={download.isPending}
        onClick={() => download.mutate()}
      >
        Export data
      </Button>
      {!isErasing && (
        <Button
          variant="default"
          leftSection={<IconEraser size={16} />}
          loading={erase.isPending}
          onClick={() => void ask()}
        >
          Erase user
        </Button>
      )}
    </Group>
  )
}

function save(file: Blob, name: string): void {
  const url = URL.createObjectURL(file)
  const link = Object.assign(document.createElement('a'), { href: url, download: name })
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 1_000)
}

export const ErasureUnderWay = ({ erasure }: { erasure: Schemas['Erasure'] }) => (
  <Alert color="yellow" icon={<IconEraser />} title="This user is being erased">
    Requested by {erasure.requested_by}, <Time at={erasure.requested_at} />.{' '}
    {erasure.status === 'waiting'
      ? 'Queued postbacks are delivered first, for up to 3 days.'
      : 'All data of this user was erased. Data that still arrives is erased within an hour.'}
  </Alert>
)
