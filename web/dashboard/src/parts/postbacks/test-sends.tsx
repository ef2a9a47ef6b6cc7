// Test scenarios: made-up postbacks to the saved address, and whether the server did right with each.
import { Alert, Anchor, Button, Group, Input, List, Paper, SegmentedControl, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import type { Schemas } from '../../lib/api-types.ts'
import { type ApiError, get, post } from '../../lib/api.ts'
import { mayWrite, useMe } from '../../lib/me.ts'
import { useChange } from '../../lib/queries.ts'
import { useFilters } from '../../lib/use-filters.ts'
import type { Mode } from '../../lib/words.ts'
import { Loaded } from '../page.tsx'
import { Section } from '../section.tsx'
import { Status } from '../status.tsx'
import { Attempts } from './attempts.tsx'
import type { SettingsData } from './settings-values.ts'

type TestData = Schemas['PostbackTestOfApp']
type Result = TestData['results'][number]

const POLL_MS = 1_000
const LONG_MS = 60_000

export function TestSendsSection({ base, data }: { base: `/apps/${string}`; data: SettingsData }) {
  const me = useMe()
  const [{ test }, setFilters] = useFilters()
  const [mode, setMode] = useState<Mode>('live')
  const start = useChange(() => post(`${base}/postback/tests`, { mode }), {
    onDone: ({ test_id }) => setFilters({ test: test_id }),
  })
  return (
    <Section
      title="Test"
      about="Sends sample postbacks, marked as tests, to the saved URL and checks how your server responds."
    >
      {test === undefined && (
        <List size="sm" spacing={4}>
          {data.scenarios.map(({ scenario, about }) => (
            <List.Item key={scenario}>
              <b>{nameOf(scenario)}:</b> {about}
            </List.Item>
          ))}
        </List>
      )}
      {data.settings === null ? (
        <Text size="sm">Save a postback URL first.</Text>
      ) : (
        mayWrite(me) && (
          <Group align="flex-end">
            <Input.Wrapper label="Sign with the secret of" labelElement="div">
              <div>
                <SegmentedControl
                  aria-label="Sign with the secret of"
                  data={[
                    { value: 'live', label: 'the live key' },
                    { value: 'test', label: 'the test key' },
                  ]}
                  value={mode}
                  onChange={setMode}
                />
              </div>
            </Input.Wrapper>
            <Button onClick={() => start.mutate(undefined)} loading={start.isPending}>
              {test === undefined ? 'Run tests' : 'Run tests again'}
            </Button>
          </Group>
        )
      )}
      {test !== undefined && <Results base={base} testId={test} />}
    </Section>
  )
}

function Results({ base, testId }: { base: `/apps/${string}`; testId: string }) {
  const path = `${base}/postback/tests/${encodeURIComponent(testId)}` as const
  const test = useQuery<TestData, ApiError>({
    queryKey: [path],
    queryFn: ({ signal }) => get(path, undefined, signal),
    refetchInterval: ({ state }) => (state.data?.result === 'waiting' ? POLL_MS : false),
  })
  return (
    <Loaded query={test}>
      {(data) => (
        <Stack gap="sm">
          <div role="status">
            <Verdict data={data} />
          </div>
          {data.results.map((result) => (
            <Scenario key={result.scenario} base={base} result={result} />
          ))}
        </Stack>
      )}
    </Loaded>
  )
}

function Verdict({ data: { result, results } }: { data: TestData }) {
  const passed = results.filter((one) => one.result === 'pass').length
  if (result === 'pass')
    return (
      <Alert color="green" title="All tests passed">
        Your server handled all {results.length} correctly.
      </Alert>
    )
  if (result === 'fail')
    return (
      <Alert color="red" title={`${passed} of ${results.length} passed`}>
        See below what was expected and how your server responded.
      </Alert>
    )
  const sentAt = results[0]?.postbacks[0]?.created_at
  const isLong = sentAt !== undefined && Date.now() - Date.parse(sentAt) > LONG_MS
  return (
    <Alert color={isLong ? 'yellow' : 'blue'} title="Running tests">
      {isLong
        ? 'This is taking longer than expected. If nothing happens, ask the operator whether a worker is running.'
        : `${passed} of ${results.length} passed so far.`}
    </Alert>
  )
}

function Scenario({
  base,
  result: { scenario, about, seen, result, postbacks },
}: {
  base: `/apps/${string}`
  result: Result
}) {
  return (
    <Paper p="sm">
      <Stack gap="xs">
        <Group gap="xs">
          <Status value={result} />
          <Title order={3} size="h5">
            {nameOf(scenario)}
          </Title>
        </Group>
        <Text size="sm">{about}</Text>
        <Text size="sm" fw={500}>
          Result: {seen}
        </Text>
        {postbacks.map((one) => (
          <div key={one.postback_id}>
            {one.tries.length === 0 ? (
              <Text size="sm" c="dimmed">
                {one.status}: not sent yet.
              </Text>
            ) : (
              <Attempts tries={one.tries} isOpen={false} />
            )}
            <Anchor component={Link} size="sm" href={`${base}/postbacks/${one.postback_id}`}>
              View in log ({one.status})
            </Anchor>
          </div>
        ))}
      </Stack>
    </Paper>
  )
}

const nameOf = (scenario: string) => scenario.replaceAll('_', ' ')
