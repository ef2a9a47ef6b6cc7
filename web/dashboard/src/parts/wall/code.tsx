// What to paste into a page to show the wall there.
import { Anchor, List, Text } from '@mantine/core'
import { useGet } from '../../lib/queries.ts'
import { CodeTabs } from '../code-tabs.tsx'
import { Section } from '../section.tsx'
import type { WalledApp } from './data.ts'
import { scriptCode, wallUrl } from './data.ts'

export function WallCode({ app }: { app: WalledApp }) {
  const sdk = useGet(`/apps/${String(app.app_id)}/wall/sdk`)
  const url = wallUrl(app, 'USER_ID')
  const codes = [
    {
      name: 'HTML',
      code: `<iframe src="${url.replaceAll('&', '&amp;')}" title="Offers" style="width:100%;height:800px;border:0" allow="" sandbox="allow-scripts allow-same-origin allow-popups allow-popups-to-escape-sandbox"></iframe>`,
    },
    ...(sdk.data === undefined ? [] : [{ name: 'JavaScript', code: scriptCode(app, sdk.data) }]),
    { name: 'Link', code: url },
    { name: 'Web view', code: `${url}&embed=webview`, about: 'In an app: offers then open in the same view.' },
  ]
  return (
    <Section
      title="Embed the wall"
      about="Replace USER_ID with your own ID of the user. Add exp and sig, created on your server, to show users their progress and history."
      action={
        <Anchor href={wallUrl(app, 'preview-user')} target="_blank" rel="noreferrer">
          Open the wall
        </Anchor>
      }
    >
      <CodeTabs codes={codes} />
      <Text size="sm" fw={600}>
        Optional parameters
      </Text>
      <List size="sm">
        <List.Item>aff_sub, aff_sub2, aff_sub3, aff_sub4: your own tracking parameters</List.Item>
        <List.Item>country, platform, category, sort: override what is detected from the visitor’s request</List.Item>
        <List.Item>theme (light, dark, auto) and lang (en, de, es, fr, pt, pl, tr, ar)</List.Item>
        <List.Item>embed=webview: in the web view of an app, where links cannot open a tab</List.Item>
      </List>
    </Section>
  )
}
