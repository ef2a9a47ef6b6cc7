// The first steps of an app. Each ticks itself off when it has really happened; the next one is open.
import { Accordion, Group, Paper, Progress, Stack, Text, ThemeIcon, Title, VisuallyHidden } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import { useState } from 'react'
import { formatAgo } from '../../lib/format.ts'
import type { AppData, ChecklistData, Step } from './data.ts'
import { STEP_CONTENTS } from './steps.tsx'
import { Tag } from '../status.tsx'

const TITLES: Record<Step, string> = {
  keys: 'Get your keys',
  request: 'Send your first request',
  postback: 'Set your postback URL',
  test: 'Send test postbacks',
  conversion: 'Get your first conversion',
}

export function FirstSteps({ app, checklist }: { app: AppData; checklist: ChecklistData }) {
  const { steps } = checklist
  const next = steps.find(({ done_at }) => done_at === null)?.step ?? null
  // What was opened by hand stays open until another step completes.
  const [opened, setOpened] = useState<{ at: Step | null; step: string | null }>({ at: next, step: next })
  const shown = opened.at === next ? opened.step : next
  const done = steps.filter(({ done_at }) => done_at !== null)
  const latest = done.at(-1)
  return (
    <Paper component="section" p={{ base: 'sm', sm: 'lg' }}>
      <Stack gap="md">
        <div>
          <Title order={2} size="h4">
            First steps
          </Title>
          <Text c="dimmed" size="sm">
            {done.length} of {steps.length} done. Steps complete automatically.
          </Text>
        </div>
        <Progress value={(done.length / steps.length) * 100} color="green" aria-label="First steps done" />
        <VisuallyHidden role="status">{latest === undefined ? '' : `Done: ${TITLES[latest.step]}`}</VisuallyHidden>
        <Accordion
          variant="separated"
          order={3}
          value={shown}
          onChange={(step) => setOpened({ at: next, step })}
          keepMounted={false}
        >
          {steps.map(({ step, done_at }, i) => {
            const Content = STEP_CONTENTS[step]
            return (
              <Accordion.Item key={step} value={step}>
                <Accordion.Control icon={<StepIcon number={i + 1} isDone={done_at !== null} />}>
                  <Group justify="space-between" gap={4} pe="xs">
                    <Text fw={step === next ? 600 : 400}>{TITLES[step]}</Text>
                    {done_at !== null ? (
                      <Text size="sm" c="dimmed">
                        Done {formatAgo(done_at)}
                      </Text>
                    ) : (
                      step === next && <Tag>Next</Tag>
                    )}
                  </Group>
                </Accordion.Control>
                <Accordion.Panel>
                  <Content app={app} checklist={checklist} isDone={done_at !== null} />
                </Accordion.Panel>
              </Accordion.Item>
            )
          })}
        </Accordion>
      </Stack>
    </Paper>
  )
}

function StepIcon({ number, isDone }: { number: number; isDone: boolean }) {
  return isDone ? (
    <ThemeIcon radius="xl" size="sm" color="green.8">
      <IconCheck size={14} aria-label="done" />
    </ThemeIcon>
  ) : (
    <ThemeIcon radius="xl" size="sm" variant="default">
      <Text size="xs">{number}</Text>
    </ThemeIcon>
  )
}
