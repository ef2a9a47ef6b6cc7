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
          <Code>aff_sub</Code>, <Code>aff_sub2</Code>, <Code>aff_sub3</Code> and <Code>aff_sub4</Code>: your own
          tracking parameters, such as traffic source, campaign or page. We store them with clicks and conversions and
          return them to you.
        </>
      }
    >
      <Stack gap="sm">
        <Text size="sm">Send sub-IDs when you request offers:</Text>
        <RequestExample app={app} path={PATH} />
        <Text size="sm">You get them back</Text>
        <List size="sm" spacing={4}>
          <List.Item>
            in <Link href={`/apps/${app.app_id}/postbacks`}>postbacks</Link>, through the macros{' '}
            <Code>{'{aff_sub}'}</Code> … <Code>{'{aff_sub4}'}</Code> and in signed JSON
          </List.Item>
          <List.Item>
            in <Link href={`/apps/${app.app_id}/conversions`}>conversions</Link>, which you can filter by sub-ID
          </List.Item>
          <List.Item>
            in <Link href={`/apps/${app.app_id}/reports`}>reports</Link>, which you can group by sub-ID
          </List.Item>
        </List>
        <Text size="sm" c="dimmed">
          A link carries the sub-IDs of its request. A conversion that you report yourself gets those of the user’s
          latest request with sub-IDs.
        </Text>
      </Stack>
    </Section>
  )
}
