// One part of an advertiser's settings, which is saved by itself.
import { ActionIcon, Alert, Button, Group, Stack, Text } from '@mantine/core'
import { IconPlus, IconTrash } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { patch, put } from '../../lib/api.ts'
import { useLeaveGuard } from '../../lib/leave.ts'
import { describeProblems } from '../../lib/problems.ts'
import { useChange } from '../../lib/queries.ts'
import { FormError } from '../form-error.tsx'
import type { AdvertiserData } from './token.tsx'

export type SectionProps = { advertiser: AdvertiserData; mayChange: boolean }
export type Settings = Pick<
  AdvertiserData,
  | 'allowed_ips'
  | 'status_map'
  | 'aliases'
  | 'negative_amount'
  | 'decimal_mark'
  | 'reversal_prefix'
  | 'call_rules'
  | 'sees_publishers'
>

/** As typed, and as the server took it. */
export function usePart<N extends keyof Settings>(advertiser: AdvertiserData, name: N) {
  const [value, setValue] = useState<Settings[N]>(advertiser[name])
  const [error, setError] = useState<string | null>(null)
  const path = `/advertisers/${advertiser.advertiser_id}` as const
  // The IP allowlist is the advertiser's own to change; the rest is the operator's.
  const send = (given: Settings[N]) =>
    name === 'allowed_ips'
      ? put(`${path}/allowed-ips`, { allowed_ips: given as Settings['allowed_ips'] })
      : patch(path, { [name]: name === 'call_rules' ? ownRules(given as Settings['call_rules']) : given })
  const save = useChange(send, {
    refresh: ['/advertisers'],
    done: 'Saved.',
    onDone: (saved) => {
      setError(null)
      setValue(saved[name])
    },
    onError: (error) => setError(describeProblems(error)),
  })
  const [base, setBase] = useState(advertiser[name])
  const now = advertiser[name]
  const follow = () => {
    setBase(now)
    setValue(now)
  }
  // Changed in another tab, or by another person: shown at once, unless there is something here that it would undo.
  const isStale = !isSame(base, now) && !isSame(value, now)
  if (!isSame(base, now) && (isSame(value, base) || isSame(value, now))) follow()
  useLeaveGuard(!isSame(value, now))
  return {
    value,
    setValue,
    error,
    isChanged: !isSame(value, now),
    isSaving: save.isPending,
    save: () => save.mutate(value),
    showCurrent: isStale ? follow : null,
  }
}

/** The server keeps those of presets by itself. */
const ownRules = ({ ignored, only_goal }: Settings['call_rules']) => ({
  ignored: ignored
    .filter(({ preset }) => preset === null)
    .map(({ parameter, is, reason }) => ({ parameter, is, reason })),
  only_goal,
})

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

type FormProps = {
  part: {
    error: string | null
    isChanged: boolean
    isSaving: boolean
    save: () => void
    showCurrent: (() => void) | null
  }
  mayChange: boolean
  more?: ReactNode
  children: ReactNode
}

export function PartForm({ part, mayChange, more, children }: FormProps) {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        part.save()
      }}
    >
      <Stack>
        {part.error !== null && (
          <div style={{ whiteSpace: 'pre-wrap' }}>
            <FormError error={part.error} />
          </div>
        )}
        {part.showCurrent !== null && (
          <Alert color="yellow" title="Changed by someone else" role="status">
            <Stack gap="xs" align="flex-start">
              <Text size="sm">Saving replaces their change with yours.</Text>
              <Button size="xs" variant="default" onClick={part.showCurrent}>
                Discard my changes and reload
              </Button>
            </Stack>
          </Alert>
        )}
        {children}
        {mayChange && (
          <Group>
            {more}
            <Button type="submit" loading={part.isSaving} disabled={!part.isChanged}>
              Save
            </Button>
          </Group>
        )}
      </Stack>
    </form>
  )
}

export const Add = ({ label, onClick }: { label: string; onClick: () => void }) => (
  <Button variant="default" leftSection={<IconPlus size={16} />} onClick={onClick}>
    {label}
  </Button>
)

export const Remove = ({ label, onClick }: { label: string; onClick: () => void }) => (
  <ActionIcon variant="subtle" color="red" size="lg" aria-label={label} onClick={onClick}>
    <IconTrash size={16} />
  </ActionIcon>
)
