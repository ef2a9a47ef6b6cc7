// A credit or a debit that no conversion stands behind, such as a bonus.
import { Button, Modal, NumberInput, SegmentedControl, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { AdjustmentReply } from '../../../../../src/manage/ledger/schema.ts'
import { post, type Reply } from '../../lib/api.ts'
import { useChange } from '../../lib/queries.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { FormFault } from '../form-fault.tsx'

export type AdjustedParty = ({ publisher_id: number } | { advertiser_id: number }) & { name: string }

export function AdjustModal({ party, onClose }: { party: AdjustedParty | null; onClose: () => void }) {
  return (
    <Modal
      opened={party !== null}
      onClose={onClose}
      title={`Adjust the balance of ${party?.name ?? ''}`}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {party !== null && <AdjustForm party={party} onDone={onClose} />}
    </Modal>
  )
}

function AdjustForm({ party: { name: _name, ...whose }, onDone }: { party: AdjustedParty; onDone: () => void }) {
  const form = useForm<{ sign: string; amount: number | ''; reference: string; reason: string }>({
    initialValues: { sign: '1', amount: '', reference: '', reason: '' },
  })
  const record = useChange((body: object) => post<Reply<typeof AdjustmentReply>>('/ledger/adjustments', body), {
    refresh: ['/ledger'],
    done: 'Adjustment recorded.',
    onFault: () => {},
  })
  const { onSubmit, isSending, fault } = useSubmit(form, async ({ sign, amount, ...said }) => {
    await record.mutateAsync({ ...whose, ...said, amount: Number(sign) * Number(amount) })
    onDone()
  })
  const isPublisher = 'publisher_id' in whose
  return (
    <form onSubmit={onSubmit}>
      <Stack>
        <FormFault fault={fault} />
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
            ? 'A credit, such as a bonus, is owed to the publisher; a debit is taken off. Your margin bears it.'
            : 'A credit lowers what the advertiser owes; a debit raises it. Your margin bears it.'}
        </Text>
        <NumberInput
          label="Amount in US dollars"
          required
          min={0}
          max={999_999_999}
          decimalScale={4}
          data-autofocus
          {...form.getInputProps('amount')}
        />
        <TextInput
          label="Reference"
          description="Names this adjustment. It works once."
          required
          maxLength={200}
          {...form.getInputProps('reference')}
        />
        <TextInput
          label="Reason"
          description={isPublisher ? 'Shown to the publisher.' : undefined}
          required
          maxLength={200}
          {...form.getInputProps('reason')}
        />
        <Button type="submit" loading={isSending}>
          Record adjustment
        </Button>
      </Stack>
    </form>
  )
}
