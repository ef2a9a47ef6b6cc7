import { Stack, Tabs, Text } from '@mantine/core'
import { CopyBlock } from './copy.tsx'

type Code = { name: string; code: string; about?: string }

/** Several ways to do the same, to copy one of them. */
export function CodeTabs({ codes }: { codes: readonly Code[] }) {
  return (
    <Tabs defaultValue="0" keepMounted={false}>
      <Tabs.List>
        {codes.map(({ name }, i) => (
          <Tabs.Tab key={name} value={String(i)}>
            {name}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {codes.map(({ name, code, about }, i) => (
        <Tabs.Panel key={name} value={String(i)} pt="sm">
          <Stack gap="xs">
            {about !== undefined && <Text size="sm">{about}</Text>}
            <CopyBlock value={code} label="Copy the code" />
          </Stack>
        </Tabs.Panel>
      ))}
    </Tabs>
  )
}
