import { Code, List, Stack, Text } from '@mantine/core'
import { Link } from 'wouter'
import { Section } from '../section.tsx'
import type { AppData } from './data.ts'
import { RequestExample } from './example.tsx'

const PATH = '/offers?userId=user-1&aff_sub=newsletter&aff_sub2=banner-7'

export function SubIdHelp({ app }: { app: AppData }) {
  return (
    <Section
      title="Sub-IDs"
      about={
        <>
          <Code>aff_sub</Code>, <Code>aff_sub2</Code>, <Code>aff_sub3</Code> and <Code>aff_sub4</Code> are notes of your
          own: where a user came from, which campaign, which page. We keep them with what the user does, and hand them
          back.
        </>
      }
    >
      <Stack gap="sm">
        <Text size="sm">Send them when you ask for offers:</Text>
        <RequestExample app={app} path={PATH} />
        <Text size="sm">They come back</Text>
        <List size="sm" spacing={4}>
          <List.Item>
            in postbacks, where your address says <Code>{'{aff_sub}'}</Code> … <Code>{'{aff_sub4}'}</Code>, and in
            signed JSON: <Link href={`/apps/${app.app_id}/postbacks`}>postbacks</Link>;
          </List.Item>
          <List.Item>
            in every conversion: <Link href={`/apps/${app.app_id}/conversions`}>conversions</Link> can be searched by
            them;
          </List.Item>
          <List.Item>
            in <Link href={`/apps/${app.app_id}/reports`}>reports</Link>, which can be grouped by them.
          </List.Item>
        </List>
        <Text size="sm" c="dimmed">
          A link carries those of the request it came with. A conversion that you report yourself gets those of the
          user’s latest request that had any.
        </Text>
      </Stack>
    </Section>
  )
}
