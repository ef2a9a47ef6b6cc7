import { Button, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'

/** Pages of a list that the server gives one after the other: each answer says where the next one begins. */
export function usePages(): {
  cursor: string | null
  next: (cursor: string) => void
  back: (() => void) | null
  reset: () => void
} {
  const [passed, setPassed] = useState<string[]>([])
  return {
    cursor: passed.at(-1) ?? null,
    next: (cursor) => setPassed([...passed, cursor]),
    back: passed.length === 0 ? null : () => setPassed(passed.slice(0, -1)),
    reset: () => setPassed([]),
  }
}

type PagerProps = { pages: ReturnType<typeof usePages>; nextCursor: string | null }

/** A search ends after a while where little fits; then it goes on from there. */
export function FoundSoFar(props: PagerProps) {
  return (
    <Stack>
      <Text size="sm">None found so far. Continue to the next page.</Text>
      <Pager {...props} />
    </Stack>
  )
}

export function Pager({ pages, nextCursor }: PagerProps) {
  if (pages.back === null && nextCursor === null) return null
  return (
    <Group justify="flex-end">
      <Button variant="default" size="xs" disabled={pages.back === null} onClick={() => pages.back?.()}>
        Previous
      </Button>
      <Button
        variant="default"
        size="xs"
        disabled={nextCursor === null}
        onClick={() => nextCursor !== null && pages.next(nextCursor)}
      >
        Next
      </Button>
    </Group>
  )
}
