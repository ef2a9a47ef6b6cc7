import { Button, Group, Text } from '@mantine/core'
import { post } from '../../lib/api.ts'
import { useMe } from '../../lib/me.ts'
import { useChange } from '../../lib/queries.ts'
import { Section } from '../section.tsx'
import { Tag } from '../status.tsx'

export function EmailSection() {
  const { email, email_verified, network } = useMe()
  const verify = useChange(() => post('/me/email/verification'), { done: `We sent a link to ${email}.` })
  return (
    <Section title="Email address" about="A verified address cannot be used by another account.">
      <Group>
        <Text size="sm">{email}</Text>
        <Tag color={email_verified ? 'green' : 'gray'}>{email_verified ? 'Verified' : 'Not verified'}</Tag>
        {!email_verified && network.has_mail && (
          <Button size="xs" variant="default" loading={verify.isPending} onClick={() => verify.mutate(undefined)}>
            Verify
          </Button>
        )}
      </Group>
    </Section>
  )
}
