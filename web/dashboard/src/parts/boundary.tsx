// What stands there when a page cannot be shown at all: its code did not come, or failed.
import { Alert, Button, Stack, Text } from '@mantine/core'
import { Component, type ReactNode } from 'react'

type State = { error: Error | null }

export class Boundary extends Component<{ children: ReactNode }, State> {
  override state: State = { error: null }

  static getDerivedStateFromError(error: Error): State {
    return { error }
  }

  override render() {
    const { error } = this.state
    if (error === null) return this.props.children
    const hasNotCome = /dynamically imported module|preload/i.test(error.message)
    return (
      <Alert color="red" title="This page could not be shown" role="alert" m="md">
        <Stack gap="xs" align="flex-start">
          <Text size="sm">
            {hasNotCome
              ? 'Part of this page could not be loaded. Check your connection, or reload: there may be a new version.'
              : 'Something went wrong on this page. If it happens again, contact the operator.'}
          </Text>
          <Button size="xs" variant="default" onClick={() => window.location.reload()}>
            Reload
          </Button>
        </Stack>
      </Alert>
    )
  }
}
