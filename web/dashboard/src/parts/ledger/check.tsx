import { Alert, Button, Code, Group, Stack, Text } from '@mantine/core'
import type { CheckReply } from '../../../../../src/manage/ledger/schema.ts'
import { get, type Reply } from '../../lib/api.ts'
import { formatCount } from '../../lib/format.ts'
import { useChange } from '../../lib/queries.ts'
import { Section } from '../section.tsx'
import { Time } from '../time.tsx'

type Checked = Reply<typeof CheckReply>

export function CheckTab() {
  const check = useChange<void, Checked>(() => get<Checked>('/ledger/check'))
  return (
    <Section
      title="Ledger check"
      about="Every posting must sum to zero, every conversion must be posted as it stands, and the sums that are kept must be those of the entries. It only reads, and works beside everything else."
    >
      <Group>
        <Button onClick={() => check.mutate()} loading={check.isPending}>
          Check the ledger
        </Button>
        {check.isPending && <Text size="sm">A large ledger takes minutes.</Text>}
      </Group>
      {check.data !== undefined && <Result {...check.data} />}
    </Section>
  )
}

function Result({ is_right, postings, conversions, problems, checked_at, took_ms }: Checked) {
  const looked = (
    <Text size="sm" component="div">
      {formatCount(postings)} postings and {formatCount(conversions)} conversions, looked at in {formatCount(took_ms)}{' '}
      ms, <Time at={checked_at} />.
    </Text>
  )
  if (is_right)
    return (
      <Alert color="green" title="The ledger is right" role="status">
        {looked}
      </Alert>
    )
  return (
    <Alert color="red" title="The ledger is not right" role="alert">
      <Stack gap="sm">
        {looked}
        <Text size="sm">
          Somebody may have changed the database by hand. Keep a copy of it, and compare with your latest backup.
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
