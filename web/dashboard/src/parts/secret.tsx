import { Alert, Stack, Text } from '@mantine/core'
import { IconKey } from '@tabler/icons-react'
import { Copyable } from './copy.tsx'

/** A secret that the server has shown once, and cannot show again. */
export function SecretShown({ name, value }: { name: string; value: string }) {
  return (
    <Alert color="yellow" icon={<IconKey />} title={`Your new ${name}`} role="status">
      <Stack gap={6}>
        <Text size="sm">Store it now, where only your servers can read it. It won’t be shown again.</Text>
        <Copyable value={value} label={`Copy the ${name}`} />
      </Stack>
    </Alert>
  )
}
