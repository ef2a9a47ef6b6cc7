// One API request: what was sent, what came back, and where the endpoint is documented.
import { Alert, Anchor, Badge, Drawer, List, Stack, Text } from '@mantine/core'
import { formatDuration } from '../../lib/format.ts'
import type { Schemas } from '../../lib/api-types.ts'
import { useGet } from '../../lib/queries.ts'
import type { Mode } from '../../lib/words.ts'
import { Copyable, CopyBlock } from '../copy.tsx'
import { Detail } from '../detail.tsx'
import { Facts } from '../facts.tsx'
import { Empty, Loaded } from '../page.tsx'
import { Time } from '../time.tsx'

type ApiRequest = Schemas['ApiRequest']
type RequestDrawerProps = {
  appId: string
  mode: Mode
  requestId: string | null
  onClose: () => void
}

export function RequestDrawer({ appId, mode, requestId, onClose }: RequestDrawerProps) {
  return (
    <Drawer
      opened={requestId !== null}
      onClose={onClose}
      position="right"
      size="lg"
      title="API request"
      transitionProps={{ duration: 0 }}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {requestId !== null && <Content key={requestId} appId={appId} mode={mode} requestId={requestId} />}
    </Drawer>
  )
}

function Content({ appId, mode, requestId }: { appId: string; mode: Mode; requestId: string }) {
  const found = useGet(`/apps/${appId}/requests`, { query: { mode, request_id: requestId } })
  return (
    <Loaded query={found}>
      {({ requests: [request] }) =>
        request === undefined ? (
          <Empty title="No longer in the log">The log covers the last three days.</Empty>
        ) : (
          <About request={request} />
        )
      }
    </Loaded>
  )
}

function About({ request }: { request: ApiRequest }) {
  const { method, path, parameters, body, status, error, received_at, duration_ms, request_id, is_verified } = request
  return (
    <Stack>
      <CopyBlock value={`${method} ${path}`} label="Copy the path" />
      <Detail name="Response">
        <StatusCode status={status} /> in {formatDuration(duration_ms)}
      </Detail>
      {error !== null && (
        <Alert color="red" title={error.code}>
          <Text size="sm">{error.message}</Text>
          {error.details !== null && (
            <List size="sm" mt="xs">
              {problemsOf(error.details).map((problem) => (
                <List.Item key={problem}>{problem}</List.Item>
              ))}
            </List>
          )}
          {!is_verified && (
            <Text size="sm" mt="xs">
              The request named this app’s API key without a valid secret, so it may not be yours.
            </Text>
          )}
        </Alert>
      )}
      <Anchor href={referenceOf(method, path)} target="_blank">
        Open the documentation of this endpoint
      </Anchor>
      <Parameters parameters={parameters} />
      {body !== null && (
        <Detail name="Body">
          <CopyBlock value={body} label="Copy the body" />
        </Detail>
      )}
      <Detail name="Time">
        <Time at={received_at} />
      </Detail>
      <Detail name="Request ID">
        <Copyable value={request_id} />
      </Detail>
    </Stack>
  )
}

/** What is wrong with each parameter. Messages of the API mostly begin with its name. */
export const problemsOf = (details: Record<string, unknown>): string[] =>
  Object.entries(details).map(([name, problem]) =>
    String(problem).split(/\s/, 1)[0] === name ? String(problem) : `${name}: ${String(problem)}`,
  )

function Parameters({ parameters }: Pick<ApiRequest, 'parameters'>) {
  const given = Object.entries(parameters)
  if (given.length === 0) return null
  return (
    <Facts label="Query parameters" facts={given.map(([name, value]) => [name, [value].flat().join(', ')] as const)} />
  )
}

export function StatusCode({ status }: { status: number }) {
  const color = status >= 500 ? 'red' : status >= 400 ? 'yellow' : 'green'
  return (
    <Badge variant="light" color={color} autoContrast miw="max-content">
      {status}
    </Badge>
  )
}

/** The section of the reference that describes a path, and what stands for an ID in it. */
const SECTIONS: Record<string, { tag: string; id?: string }> = {
  offers: { tag: 'offers', id: '{offer_id}' },
  conversions: { tag: 'conversions', id: '{conversion_id}' },
  events: { tag: 'conversions' },
  stats: { tag: 'statistics' },
  postbacks: { tag: 'postbacks', id: '{postback_id}' },
  'postback-tests': { tag: 'postbacks', id: '{test_id}' },
}

/** Its place in the reference, which has every path once, under /api/v1. */
function referenceOf(method: string, path: string): string {
  const [subject = '', id, ...verb] = path.replace(/^(\/api)?\/v1\//, '').split('/')
  const section = SECTIONS[subject]
  if (section === undefined) return '/docs'
  const parts = [subject, ...(id === undefined ? [] : [section.id ?? id, ...verb])]
  return `/docs#tag/${section.tag}/${method}/api/v1/${parts.join('/')}`
}
