import { Anchor, Text } from '@mantine/core'
import { Link } from 'wouter'
import { Page } from '../parts/page.tsx'

export default function NotFound() {
  return (
    <Page title="Page not found">
      <Text>
        Check the URL, or go to the{' '}
        <Anchor component={Link} href="/" inherit underline="always">
          start page
        </Anchor>
        .
      </Text>
    </Page>
  )
}
