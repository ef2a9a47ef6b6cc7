// Says what is done about a signal: a new rule, or another word about one that there is.
import { Button, Modal, NumberInput, Select, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { Schemas } from '../../lib/api-types.ts'
import { put } from '../../lib/api.ts'
import { useChange } from '../../lib/queries.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { FormError } from '../form-error.tsx'
import { SIGNAL_NAMES } from './signals.tsx'

export type Fraud = Schemas['FraudOverview']
export type Rule = Fraud['rules'][number]
export type Draft = Pick<Rule, 'signal' | 'offer_id' | 'offer' | 'threshold' | 'action'>

export const ACTION_NAMES: Record<Rule['action'], string> = {
  flag: 'flag only',
  hold: 'hold for review',
  reject: 'reject',
}
const ACTION_CHOICES = [
  { value: 'flag', label: 'Flag only' },
  { value: 'hold', label: 'Hold for review' },
  { value: 'reject', label: 'Reject' },
]

type FormProps = { draft: Draft | null; isNew: boolean; signals: Fraud['signals']; onClose: () => void }

export function RuleForm({ draft, isNew, signals, onClose }: FormProps) {
  return (
    <Modal
      closeButtonProps={{ 'aria-label': 'Close' }}
      opened={draft !== null}
      onClose={onClose}
      title={isNew ? 'Add rule' : 'Edit rule'}
    >
      {draft !== null && <Fields {...{ draft, isNew, signals, onClose }} />}
    </Modal>
  )
}

function Fields({ draft, isNew, signals, onClose }: FormProps & { draft: Draft }) {
  const form = useForm<{ signal: string; offer_id: number | string; threshold: number | string; action: string }>({
    initialValues: {
      signal: draft.signal,
      offer_id: draft.offer_id ?? '',
      threshold: draft.threshold ?? '',
      action: draft.action,
    },
  })
  const signal = signals.find((one) => one.signal === form.values.signal)
  const thresholdOf = signal?.threshold_of ?? null
  const save = useChange((body: object) => put('/fraud/rules', body), {
    refresh: ['/fraud'],
    done: 'Saved, effective immediately.',
    onError: () => {},
    onDone: onClose,
  })
  const { onSubmit, isSending, error } = useSubmit(form, async ({ offer_id, threshold, ...values }) => {
    await save.mutateAsync({
      ...values,
      offer_id: offer_id === '' ? null : Number(offer_id),
      threshold: thresholdOf === null || threshold === '' ? null : Number(threshold),
    })
  })
  return (
    <form onSubmit={onSubmit}>
      <Stack>
        <FormError error={error} />
        <Select
          label="Signal"
          description={signal?.meaning}
          allowDeselect={false}
          disabled={!isNew}
          data={signals.map((one) => ({ value: one.signal, label: SIGNAL_NAMES[one.signal] ?? one.signal }))}
          {...form.getInputProps('signal')}
        />
        {isNew ? (
          <NumberInput
            label="Offer ID"
            description="Leave empty to apply to all offers without their own rule."
            min={1}
            allowDecimal={false}
            hideControls
            {...form.getInputProps('offer_id')}
          />
        ) : (
          <Text size="sm">Applies to {draft.offer === null ? 'all offers without their own rule' : draft.offer}.</Text>
        )}
        {thresholdOf !== null && (
          <NumberInput
            label="Threshold"
            description={`${form.values.signal === 'too_fast' ? 'Fewer' : 'More'} ${thresholdOf} than this.`}
            required
            min={1}
            allowDecimal={false}
            {...form.getInputProps('threshold')}
          />
        )}
        <Select label="Action" allowDeselect={false} data={ACTION_CHOICES} {...form.getInputProps('action')} />
        <Button type="submit" loading={isSending}>
          Save rule
        </Button>
      </Stack>
    </form>
  )
}
