import { Paper, Stack, Text } from '@mantine/core'
import { isOwner, useMe } from '../lib/me.ts'
import { NewAppForm } from '../parts/app/new-app.tsx'
import { Empty, Page } from '../parts/page.tsx'

/** For the people of a publisher that has no app yet. */
export default function Home() {
  const me = useMe()
  if (!isOwner(me))
    return (
      <Page title="Welcome">
        <Empty title="No apps yet">
          An app is one integration: a site or a game that shows offers. Ask an owner of your account to create one.
        </Empty>
      </Page>
    )
  if (me.publisher !== null && me.publisher.refusal !== null) return <Page title="Welcome">{null}</Page> // the banner says why
  return (
    <Page title="Welcome" about="Create your first app and show offers to your users in five minutes.">
      <Paper maw={520} p="lg">
        <Stack>
          <Text size="sm">
            An app is one integration: a site or a game that shows offers. Each app has its own keys and currency.
          </Text>
          <NewAppForm publisherId={me.publisher?.publisher_id ?? 0} />
        </Stack>
      </Paper>
    </Page>
  )
}
