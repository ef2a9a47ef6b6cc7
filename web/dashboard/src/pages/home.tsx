import { Paper, Stack, Text } from '@mantine/core'
import { Redirect } from 'wouter'
import { isOperator, isOwner, useMe } from '../lib/me.ts'
import { useGet } from '../lib/queries.ts'
import { NewAppForm } from '../parts/app/new-app.tsx'
import { Empty, Loaded, Page } from '../parts/page.tsx'

type AppList = { apps: { app_id: number; revoked_at: string | null }[] }

/** Everybody begins where their work is. */
export default function Home() {
  const me = useMe()
  return isOperator(me) ? (
    <Redirect to="/network" replace />
  ) : (
    <FirstApp publisherId={me.publisher?.publisher_id ?? 0} />
  )
}

function FirstApp({ publisherId }: { publisherId: number }) {
  const apps = useGet<AppList>(`/publishers/${publisherId}/apps`)
  return (
    <Loaded query={apps}>
      {({ apps: all }) => {
        const first = all.find(({ revoked_at }) => revoked_at === null) ?? all[0]
        if (first === undefined) return <Welcome publisherId={publisherId} />
        return <Redirect to={`/apps/${first.app_id}`} replace />
      }}
    </Loaded>
  )
}

function Welcome({ publisherId }: { publisherId: number }) {
  if (!isOwner(useMe()))
    return (
      <Page title="Welcome">
        <Empty title="There is no app yet">
          An app is one integration: a site or a game that shows offers. Ask an owner of this publisher to make one.
        </Empty>
      </Page>
    )
  return (
    <Page title="Welcome" about="Make your first app, and in five minutes your users see offers.">
      <Paper maw={520} p="lg">
        <Stack>
          <Text size="sm">
            An app is one integration: a site or a game that shows offers. It has keys of its own, and its own currency.
          </Text>
          <NewAppForm publisherId={publisherId} />
        </Stack>
      </Paper>
    </Page>
  )
}
