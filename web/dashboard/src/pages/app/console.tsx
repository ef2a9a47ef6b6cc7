import { Button, Group, List, Select, Stack, Text } from '@mantine/core'
import { IconExternalLink } from '@tabler/icons-react'
import { useState } from 'react'
import { Link, useParams } from 'wouter'
import type { Schemas } from '../../lib/api-types.ts'
import { useGet } from '../../lib/queries.ts'
import { Copyable } from '../../parts/copy.tsx'
import { Loaded, Page } from '../../parts/page.tsx'
import { Section } from '../../parts/section.tsx'

type AppData = Schemas['App']

export default function Console() {
  const { app_id } = useParams<{ app_id: string }>()
  const app = useGet(`/apps/${app_id}`)
  return (
    <Page title="API console" about="Every API operation, documented and ready to call with this app’s key.">
      <Loaded query={app}>{(data) => <Opener app={data} />}</Loaded>
    </Page>
  )
}

function Opener({ app: { app_id, credentials } }: { app: AppData }) {
  const [mode, setMode] = useState<string>('test')
  const apiKey = credentials.find((credential) => credential.mode === mode)?.api_key ?? ''
  return (
    <Section title="Open API reference" about="Opens in a new tab, with this API key filled in.">
      <Stack>
        <Group align="flex-end">
          <Select
            label="Key"
            allowDeselect={false}
            data={[
              { value: 'test', label: 'Test: no money involved' },
              { value: 'live', label: 'Live' },
            ]}
            value={mode}
            onChange={(value) => setMode(value ?? 'test')}
          />
          <Button
            component="a"
            // Behind the #, which browsers keep to themselves: it is in no server's log.
            href={`/docs#api-key=${apiKey}`}
            target="_blank"
            rel="noopener"
            rightSection={<IconExternalLink size={16} />}
          >
            Open API reference
          </Button>
        </Group>
        <Copyable value={apiKey} label="Copy the API key" />
        <List size="sm">
          <List.Item>Choose an operation, then “Test Request”.</List.Item>
          <List.Item>
            Enter the API secret under X-API-Secret. It is not stored, and is sent only to this server.
          </List.Item>
          <List.Item>
            Lost your secret? Secrets are shown only once:{' '}
            <Link href={`/apps/${app_id}/integration`}>create a new one</Link>.
          </List.Item>
        </List>
        <Text size="sm" c="dimmed">
          The machine-readable specification is at <a href="/openapi.json">/openapi.json</a>.
        </Text>
      </Stack>
    </Section>
  )
}
