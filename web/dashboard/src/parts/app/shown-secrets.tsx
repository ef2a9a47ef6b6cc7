// The secrets of a new app, for as long as this visit lasts.
import { Alert, Button, Stack, Text } from '@mantine/core'
import { IconKey } from '@tabler/icons-react'
import { useState } from 'react'
import { Copyable } from '../copy.tsx'
import { type AppData, keyOf } from './data.ts'
import { useSecret } from './secrets.ts'

const PLAIN_TITLE = { title: { color: 'var(--mantine-color-text)' } } // yellow on yellow is hard to read

export function ShownSecrets({ app }: { app: AppData }) {
  const [isStored, setStored] = useState(false)
  const [live, test] = [keyOf(app, 'live').api_key, keyOf(app, 'test').api_key]
  const secrets: [string, string | null][] = [
    ['Test API secret', useSecret(test, 'api')],
    ['Test signing secret', useSecret(test, 'signing')],
    ['Live API secret', useSecret(live, 'api')],
    ['Live signing secret', useSecret(live, 'signing')],
  ]
  if (isStored || secrets.every(([, secret]) => secret === null)) return null
  return (
    <Alert color="yellow" icon={<IconKey />} title="Store your secrets now" role="status" styles={PLAIN_TITLE}>
      <Stack gap="xs" align="flex-start">
        <Text size="sm">
          Store them where only your servers can read them. They are not shown again after this visit; if you lose one,
          create a new one. Send API secrets with your requests; use signing secrets to verify that a postback is from
          us.
        </Text>
        {secrets.map(
          ([name, secret]) =>
            secret !== null && (
              <div key={name}>
                <Text size="sm" fw={600}>
                  {name}
                </Text>
                <Copyable value={secret} label={`Copy the ${name[0]?.toLowerCase()}${name.slice(1)}`} />
              </div>
            ),
        )}
        <Button size="xs" variant="default" onClick={() => setStored(true)}>
          I have stored them
        </Button>
      </Stack>
    </Alert>
  )
}
