import { Button, Group, Image, Paper, Stack, Text } from '@mantine/core'
import { IconPhoto } from '@tabler/icons-react'
import { useState } from 'react'
import type { Schemas } from '../../lib/api-types.ts'
import { useGet } from '../../lib/queries.ts'
import { ErrorMessage } from '../page.tsx'
import { Time } from '../time.tsx'

type Ticket = Schemas['Ticket']
type Message = Ticket['messages'][number]

export function Thread({ appId, ticket }: { appId: string; ticket: Ticket }) {
  return (
    <Stack component="ol" gap="sm" className="thread" aria-label="Messages" aria-live="polite">
      {ticket.messages.map((message) => (
        <Paper
          key={message.message_id}
          component="li"
          p="sm"
          bg="var(--mantine-color-body)"
          data-answer={message.author !== null}
        >
          <Group justify="space-between" gap="xs">
            <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
              {message.author ?? ticket.user_id}
            </Text>
            <Text size="xs" c="dimmed" component="span">
              <Time at={message.created_at} />
              {message.is_emailed && ' · also by email'}
            </Text>
          </Group>
          <Text size="sm" dir="auto" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
            {message.text}
          </Text>
          {message.has_image && <MessageImage appId={appId} ticketId={ticket.ticket_id} message={message} />}
        </Paper>
      ))}
    </Stack>
  )
}

type ImageProps = { appId: string; ticketId: string; message: Message }

/** Users upload what they like, so it is shown when asked for; as data, so that there is no URL to open it at. */
function MessageImage({ appId, ticketId, message: { message_id } }: ImageProps) {
  const [isWanted, setWanted] = useState(false)
  const image = useGet(isWanted ? `/apps/${appId}/tickets/${ticketId}/messages/${message_id}/image` : null)
  if (image.data !== undefined)
    return (
      <Image
        mt="xs"
        fit="contain"
        mah={480}
        w="auto"
        src={`data:${image.data.type};base64,${image.data.content}`}
        alt="Image from the user"
      />
    )
  if (image.error !== null) return <ErrorMessage error={image.error} retry={() => void image.refetch()} />
  return (
    <Button
      mt="xs"
      size="xs"
      variant="default"
      leftSection={<IconPhoto size={16} />}
      loading={image.isFetching}
      onClick={() => setWanted(true)}
    >
      Show image
    </Button>
  )
}
