import { Alert, Button, Code, Group, Stack, Text } from '@mantine/core'
import type { Schemas } from '../../lib/api-types.ts'
import { get } from '../../lib/api.ts'
import { formatCount } from '../../lib/format.ts'
import { useChange } from '../../lib/queries.ts'
import { Section } from '../section.tsx'
import { Time } from '../time.tsx'

type Checked = Schemas['LedgerCheck']

export function CheckTab() {
  const check = useChange<void, Checked>(() => get('/ledger/check'))
  return (
    <Section
      title="Ledger check"
      about="Checks that every posting sums to zero, that every conversion is posted with its current status, and that stored totals match the entries. Read-only, and safe to run at any time."
    >
      <Group>
        <Button onClick={() => check.mutate()} loading={check.isPending}>
          Check ledger
        </Button>
        {check.isPending && <Text size="sm">Large ledgers take minutes.</Text>}
      </Group>
      {check.data !== undefined && <Result {...check.data} />}
    </Section>
  )
}

function Result({ is_right, postings, conversions, problems, checked_at, took_ms }: Checked) {
  const looked = (
    <Text size="sm" component="div">
      {formatCount(postings)} postings and {formatCount(conversions)} conversions, checked in {formatCount(took_ms)} ms,{' '}
      <Time at={checked_at} />.
    </Text>
  )
  if (is_right)
    return (
      <Alert color="green" title="The ledger is correct" role="status">
        {looked}
      </Alert>
    )
  return (
    <Alert color="red" title="The ledger has errors" role="alert">
      <Stack gap="sm">
        {looked}
        <Text size="sm">
          The database may have been changed by hand. Keep a copy and compare it with your latest backup.
        </Text>
        {problems.map(({ kind, count, examples }) => (
          <div key={kind}>
            <Text size="sm" fw={600}>
              {kind.replaceAll('_', ' ')}: {formatCount(count)}
            </Text>
            <Code block tabIndex={0}>
              {examples.join('\n')}
            </Code>
          </div>
        ))}
      </Stack>
    </Alert>
  )
}
