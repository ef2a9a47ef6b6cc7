import { Paper, Text, UnstyledButton } from '@mantine/core'
import type { ReactNode } from 'react'

type FigureProps = { label: string; value: ReactNode; about?: string }

const CHOSEN = 'var(--mantine-primary-color-filled)'

/** One number that matters, with its name. */
export function Figure({ label, value, about }: FigureProps) {
  return (
    <Paper>
      <Inside {...{ label, value }} {...(about === undefined ? {} : { about })} />
    </Paper>
  )
}

/** The same, to choose what a chart shows. */
export function FigureButton({
  isChosen,
  onChoose,
  ...figure
}: FigureProps & { isChosen: boolean; onChoose: () => void }) {
  return (
    <UnstyledButton onClick={onChoose} aria-pressed={isChosen} h="100%">
      <Paper h="100%" {...(isChosen ? { style: { borderColor: CHOSEN, boxShadow: `inset 0 0 0 1px ${CHOSEN}` } } : {})}>
        <Inside {...figure} />
      </Paper>
    </UnstyledButton>
  )
}

function Inside({ label, value, about }: FigureProps) {
  return (
    <>
      <Text size="sm" c="dimmed" component="span" display="block">
        {label}
      </Text>
      <Text size="xl" fw={700} component="span" display="block">
        {value}
      </Text>
      {about !== undefined && (
        <Text size="xs" c="dimmed" component="span" display="block">
          {about}
        </Text>
      )}
    </>
  )
}
