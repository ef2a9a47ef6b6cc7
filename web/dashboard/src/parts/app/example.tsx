// A request in several languages, with the app's own key, and its secret where that is known.
import { Group, SegmentedControl, Stack, Tabs, Text } from '@mantine/core'
import { useState } from 'react'
import { CopyBlock } from '../copy.tsx'
import { keyOf, type Mode, type AppData } from './data.ts'
import { type Example, LANGUAGES, type Language, SECRET_PLACEHOLDER, writeSnippet } from './snippets.ts'
import { useSecret } from './secrets.ts'

const MODES = [
  { value: 'test', label: 'Test key' },
  { value: 'live', label: 'Live key' },
]

type RequestExampleProps = {
  app: AppData
  path: string
  body?: Example['body']
  /** Only the test key is offered. */
  testOnly?: boolean
}

export function RequestExample({ app, path, body, testOnly = false }: RequestExampleProps) {
  const [mode, setMode] = useState<Mode>('test')
  const [language, setLanguage] = useState<Language>('curl')
  const apiKey = keyOf(app, mode).api_key
  const secret = useSecret(apiKey, 'api')
  const example: Example = {
    url: app.api_url + path,
    apiKey,
    apiSecret: secret ?? SECRET_PLACEHOLDER,
    ...(body === undefined ? {} : { body }),
  }
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        {!testOnly && (
          <SegmentedControl
            aria-label="Which key"
            size="xs"
            data={MODES}
            value={mode}
            onChange={(value) => setMode(value as Mode)}
          />
        )}
        {secret === null && (
          <Text size="sm" c="dimmed">
            Put your {mode} API secret where it says {SECRET_PLACEHOLDER}.
          </Text>
        )}
      </Group>
      <Tabs value={language} onChange={(value) => setLanguage((value ?? 'curl') as Language)} keepMounted={false}>
        <Tabs.List>
          {LANGUAGES.map((name) => (
            <Tabs.Tab key={name} value={name}>
              {name}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {LANGUAGES.map((name) => (
          <Tabs.Panel key={name} value={name} pt="xs">
            <CopyBlock value={writeSnippet(name, example)} label={`Copy the ${name} example`} />
          </Tabs.Panel>
        ))}
      </Tabs>
    </Stack>
  )
}
