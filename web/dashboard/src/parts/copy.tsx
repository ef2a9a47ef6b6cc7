import { ActionIcon, Code, CopyButton, Group, Paper, Tooltip } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'

export function CopyIcon({ value, label = 'Copy' }: { value: string; label?: string }) {
  return (
    <CopyButton value={value}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? 'Copied' : label}>
          <ActionIcon variant="subtle" color={copied ? 'green' : 'gray'} onClick={copy} aria-label={label}>
            {copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
          </ActionIcon>
        </Tooltip>
      )}
    </CopyButton>
  )
}

/** A short text to take along: a key, an address. */
export function Copyable({ value, label }: { value: string; label?: string }) {
  return (
    <Group gap={4} wrap="nowrap">
      <Code style={{ overflowWrap: 'anywhere' }}>{value}</Code>
      <CopyIcon value={value} {...(label === undefined ? {} : { label })} />
    </Group>
  )
}

type CopyBlockProps = { value: string; label: string; /** Scrolls, instead of filling the page. */ isLong?: boolean }

/** Lines to paste somewhere. */
export function CopyBlock({ value, label, isLong = false }: CopyBlockProps) {
  return (
    <Paper p="xs" pos="relative" bg="var(--mantine-color-body)">
      <Group justify="space-between" align="flex-start" wrap="nowrap">
        <Code
          block
          style={{ flex: 1, minWidth: 0, whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
          mah={isLong ? 480 : undefined}
          tabIndex={0}
        >
          {value}
        </Code>
        <CopyIcon value={value} label={label} />
      </Group>
    </Paper>
  )
}
