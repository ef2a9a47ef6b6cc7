import { Alert, Stack } from '@mantine/core'
import { useParams } from 'wouter'
import { isOwner, useMe } from '../../lib/me.ts'
import { useGet } from '../../lib/queries.ts'
import { FirstSteps } from '../../parts/app/checklist.tsx'
import { type ChecklistData, isRevoked } from '../../parts/app/data.ts'
import { LeakWarning } from '../../parts/app/leak.tsx'
import { NewAppButton } from '../../parts/app/new-app.tsx'
import { ShownSecrets } from '../../parts/app/shown-secrets.tsx'
import { Success } from '../../parts/app/success.tsx'
import { Today } from '../../parts/app/today.tsx'
import { Loaded, Page } from '../../parts/page.tsx'
import { OpenTickets } from '../../parts/tickets/open-tickets.tsx'

const WATCH_MS = 1_000

export default function Overview() {
  const { app_id } = useParams<{ app_id: string }>()
  return <OverviewOf key={app_id} appId={app_id} />
}

function OverviewOf({ appId }: { appId: string }) {
  const me = useMe()
  const app = useGet(`/apps/${appId}`)
  const isOver = app.data !== undefined && isRevoked(app.data)
  const checklist = useWatched(`/apps/${appId}/checklist`, isOver)
  return (
    <Page
      title={app.data?.name ?? 'App'}
      actions={isOwner(me) && app.data !== undefined && <NewAppButton publisherId={app.data.publisher_id} />}
    >
      <Loaded query={app}>
        {(data) => (
          <Stack gap="lg">
            {isOver && (
              <Alert color="gray" title="This app is revoked">
                The keys of this app no longer work. To continue, create a new app.
              </Alert>
            )}
            <LeakWarning app={data} />
            <OpenTickets appId={appId} />
            <ShownSecrets app={data} />
            <Loaded query={checklist}>
              {(list) => (
                <Stack gap="lg">
                  {!list.is_complete && !isOver && <FirstSteps app={data} checklist={list} />}
                  {list.is_complete && !isOver && <Success app={data} checklist={list} />}
                  {hasBegun(list) && <Today appId={data.app_id} />}
                </Stack>
              )}
            </Loaded>
          </Stack>
        )}
      </Loaded>
    </Page>
  )
}

/** Asked for every second while something is still to come. */
function useWatched(path: `/apps/${string}/checklist`, isOver: boolean) {
  const first = useGet(path)
  const isComplete = first.data?.is_complete === true
  return useGet(path, isComplete || isOver ? {} : { everyMs: WATCH_MS })
}

/** Before the first request there is nothing to count. */
const hasBegun = ({ steps }: ChecklistData) =>
  steps.some(({ step, done_at }) => (step === 'request' || step === 'conversion') && done_at !== null)
