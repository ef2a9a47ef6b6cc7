import { Text } from '@mantine/core'
import { modals } from '@mantine/modals'
import type { ReactNode } from 'react'

type Question = { title: string; text: ReactNode; action: string; cancel?: string }

/** Asks before something that takes effect at once and hurts. */
export const confirm = ({ title, text, action, cancel = 'Cancel' }: Question): Promise<boolean> =>
  new Promise((resolve) =>
    modals.openConfirmModal({
      title,
      children: <Text size="sm">{text}</Text>,
      labels: { confirm: action, cancel },
      confirmProps: { color: 'red' },
      onConfirm: () => resolve(true),
      onClose: () => resolve(false), // also after onConfirm, which was first
    }),
  )
