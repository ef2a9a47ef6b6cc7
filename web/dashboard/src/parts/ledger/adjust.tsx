// A credit or a debit that no conversion stands behind, such as a bonus.
import { Modal, SegmentedControl, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { checkPositive, readAmount } from '../../lib/amounts.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { AmountInput } from '../amount-input.tsx'
import { SubmitForm } from '../submit-form.tsx'
import { useAdjustment } from './use-record.ts'

export type AdjustedParty = ({ publisher_id: number } | { advertiser_id: number }) & { name: string }

export function AdjustModal({ party, onClose }: { party: AdjustedParty | null; onClose: () => void }) {
  return (
    <Modal opened={party !== null} onClose={onClose} title={`Adjust the balance of ${party?.name ?? ''}`}>
      {party !== null && <AdjustForm party={party} onDone={onClose} />}
    </Modal>
  )
}

function AdjustForm({ party: { name: _name, ...whose }, onDone }: { party: AdjustedParty; onDone: () => void }) {
  const form = useForm({
    initialValues: { sign: '1', amount: '', reference: '', reason: '' },
    validate: { amount: checkPositive },
  })
  const record = useAdjustment()
  const submit = useSubmit(form, async ({ sign, amount, ...said }) => {
    await record.mutateAsync({ ...whose, ...said, amount: Number(sign) * (readAmount(amount) ?? 0) })
    onDone()
  })
  const isPublisher = 'publisher_id' in whose
  return (
    <SubmitForm submit={submit} action="Record adjustment">
      <SegmentedControl
        aria-label="Credit or debit"
        data={[
          { value: '1', label: 'Credit' },
          { value: '-1', label: 'Debit' },
        ]}
        {...form.getInputProps('sign')}
      />
      <Text size="sm">
        {isPublisher
          ? 'A credit, such as a bonus, raises the publisher’s balance; a debit lowers it. Adjustments come out of your margin.'
          : 'A credit lowers what the advertiser owes; a debit raises it. Adjustments come out of your margin.'}
      </Text>
      <AmountInput label="Amount in US dollars" required data-autofocus {...form.getInputProps('amount')} />
      <TextInput
        label="Reference"
        description="Identifies this adjustment. Each reference works once."
        required
        {...form.getInputProps('reference')}
      />
      <TextInput
        label="Reason"
        description={isPublisher ? 'Shown to the publisher.' : undefined}
        required
        {...form.getInputProps('reason')}
      />
    </SubmitForm>
  )
}
