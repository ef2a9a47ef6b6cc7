import { Anchor, Text } from '@mantine/core'
import { Link } from 'wouter'
import { Page } from '../parts/page.tsx'

export default function NotFound() {
  return (
    <Page title="There is no such page">
      <Text>
        The address may be mistyped, or what it led to is gone.{' '}
        <Anchor component={Link} href="/">
          Go to the start
        </Anchor>
      </Text>
    </Page>
  )
}
