// Says what is done about a signal: a new rule, or another word about one that there is.
import { Button, Modal, Select, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { checkWhole, readWhole } from '../../lib/amounts.ts'
import type { Schemas } from '../../lib/api-types.ts'
import { put } from '../../lib/api.ts'
import { useChange } from '../../lib/queries.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import type { BodyOf } from '../../lib/operations.ts'
import { SIGNALS } from '../../lib/words.ts'
import { WholeInput } from '../amount-input.tsx'
import { FormError } from '../form-error.tsx'
import { OfferPicker } from '../network-offers/offer-picker.tsx'

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

const checkThreshold = checkWhole(1, 1_000_000_000)
const thresholdOfSignal = (signals: Fraud['signals'], signal: string) =>
  signals.find((one) => one.signal === signal)?.threshold_of ?? null

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
  const form = useForm({
    initialValues: {
      signal: draft.signal,
      offer_id: String(draft.offer_id ?? ''),
      threshold: String(draft.threshold ?? ''),
      action: draft.action,
    },
    validate: {
      threshold: (text, { signal }) => (thresholdOfSignal(signals, signal) === null ? null : checkThreshold(text)),
    },
  })
  const signal = signals.find((one) => one.signal === form.values.signal)
  const thresholdOf = thresholdOfSignal(signals, form.values.signal)
  const save = useChange((body: BodyOf<'PUT /fraud/rules'>) => put('/fraud/rules', body), {
    refresh: ['/fraud'],
    done: 'Saved, effective immediately.',
    onError: () => {},
    onDone: onClose,
  })
  const { formProps, isSending, error } = useSubmit(form, async ({ offer_id, threshold, ...values }) => {
    await save.mutateAsync({
      ...values,
      offer_id: offer_id === '' ? null : Number(offer_id),
      threshold: thresholdOf === null ? null : readWhole(threshold),
    })
  })
  return (
    <form {...formProps}>
      <Stack>
        <FormError error={error} />
        <Select
          label="Signal"
          description={signal?.meaning}
          allowDeselect={false}
          disabled={!isNew}
          data={signals.map((one) => ({ value: one.signal, label: SIGNALS[one.signal] }))}
          {...form.getInputProps('signal')}
        />
        {isNew ? (
          <OfferPicker
            label="Offer"
            description="Leave empty to apply to all offers without their own rule."
            placeholder="Name or ID"
            {...form.getInputProps('offer_id')}
          />
        ) : (
          <Text size="sm">Applies to {draft.offer === null ? 'all offers without their own rule' : draft.offer}.</Text>
        )}
        {thresholdOf !== null && (
          <WholeInput
            label="Threshold"
            description={`${form.values.signal === 'too_fast' ? 'Fewer' : 'More'} ${thresholdOf} than this.`}
            required
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
