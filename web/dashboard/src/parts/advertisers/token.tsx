import { Button, Group, Modal, Select, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { IconRotate } from '@tabler/icons-react'
import type { Schemas } from '../../lib/api-types.ts'
import { post } from '../../lib/api.ts'
import { useChange } from '../../lib/queries.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { FormError } from '../form-error.tsx'
import { SecretShown } from '../secret.tsx'
import { Section } from '../section.tsx'
import { Time } from '../time.tsx'

export type AdvertiserData = Schemas['Advertiser']

const GRACES = [
  { value: '0s', label: 'immediately (leaked)' },
  { value: '1h', label: 'after an hour' },
  { value: '24h', label: 'after a day' },
  { value: '7d', label: 'after a week' },
]

type TokenSectionProps = {
  advertiser: AdvertiserData
  mayChange: boolean
  /** The new one, which only this page knows. */
  token: string | null
  onToken: (token: string) => void
}

export function TokenSection({ advertiser, mayChange, token, onToken }: TokenSectionProps) {
  const [isOpen, { open, close }] = useDisclosure()
  return (
    <Section title="Token" about="Authenticates callbacks. Only a hash is stored, so it can’t be shown again.">
      {token !== null && <SecretShown name="token" value={token} />}
      <Stack gap={4}>
        {advertiser.tokens.length === 0 && <Text size="sm">No token yet. Callbacks will be refused.</Text>}
        {advertiser.tokens.map(({ created_at, expires_at }) => (
          <Text key={created_at + String(expires_at)} size="sm" component="div">
            {expires_at === null ? 'Active' : 'The old token works until'}{' '}
            {expires_at !== null && <Time at={expires_at} />} · created <Time at={created_at} ago />
          </Text>
        ))}
      </Stack>
      {mayChange && (
        <Group>
          <Button variant="default" leftSection={<IconRotate size={16} />} onClick={open}>
            Create new token
          </Button>
        </Group>
      )}
      <Modal opened={isOpen} onClose={close} title="Create new token">
        <Rotate
          advertiserId={advertiser.advertiser_id}
          onDone={(made) => {
            close()
            onToken(made)
          }}
        />
      </Modal>
    </Section>
  )
}

function Rotate({ advertiserId, onDone }: { advertiserId: number; onDone: (token: string) => void }) {
  const form = useForm({ initialValues: { grace: '24h' } })
  const path = `/advertisers/${advertiserId}` as const
  const rotate = useChange((values: { grace: string }) => post(`${path}/rotate-token`, values), {
    refresh: ['/advertisers'],
    onError: () => {},
  })
  const { formProps, isSending, error } = useSubmit(form, async (values) =>
    onDone((await rotate.mutateAsync(values)).token),
  )
  return (
    <form {...formProps}>
      <Stack>
        <FormError error={error} />
        <Text size="sm">The advertiser must switch to the new token before the old one expires.</Text>
        <Select label="Old token expires" data={GRACES} allowDeselect={false} {...form.getInputProps('grace')} />
        <Button type="submit" loading={isSending}>
          Create token
        </Button>
      </Stack>
    </form>
  )
}
