import { Anchor, Text } from '@mantine/core'
import { Link } from 'wouter'
import { Page } from '../parts/page.tsx'

export default function NotFound() {
  return (
    <Page title="Page not found">
      <Text>
        Check the URL, or go back to the start. The page may have been removed.{' '}
        <Anchor component={Link} href="/">
          Go to the start
        </Anchor>
      </Text>
    </Page>
  )
}
