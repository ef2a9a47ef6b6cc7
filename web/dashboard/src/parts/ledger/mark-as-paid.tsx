import { Alert, Button, List, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import type { PaymentRunReply } from '../../../../../src/manage/ledger/schema.ts'
import { post, type Reply } from '../../lib/api.ts'
import { formatCount, formatUsd } from '../../lib/format.ts'
import { useChange } from '../../lib/queries.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { FormFault } from '../form-fault.tsx'
import type { Owed } from './payment-run.tsx'

type Results = Reply<typeof PaymentRunReply>['results']
type MarkAsPaidProps = { opened: boolean; payments: Owed[]; onClose: (isDone: boolean) => void }

const AT_ONCE = 200 // as many as the server takes

export function MarkAsPaid({ opened, payments, onClose }: MarkAsPaidProps) {
  const [results, setResults] = useState<Results | null>(null)
  const close = () => {
    onClose(results !== null)
    setResults(null)
  }
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={results === null ? 'Mark as paid' : 'What came of it'}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {results === null ? (
        <Form payments={payments} onDone={setResults} />
      ) : (
        <Outcome results={results} payments={payments} onClose={close} />
      )}
    </Modal>
  )
}

function Form({ payments, onDone }: { payments: Owed[]; onDone: (results: Results) => void }) {
  const form = useForm({ initialValues: { reference: '' } })
  const pay = useChange(
    async (reference: string) => {
      const results: Results = []
      for (let i = 0; i < payments.length; i += AT_ONCE) {
        const some = payments.slice(i, i + AT_ONCE).map(({ publisher_id, due }) => ({ publisher_id, amount: due }))
        const answer = await post<Reply<typeof PaymentRunReply>>('/ledger/payment-runs', { reference, payments: some })
        results.push(...answer.results)
      }
      return results
    },
    { refresh: ['/ledger'], onFault: () => {} },
  )
  const { onSubmit, isSending, fault } = useSubmit(form, async ({ reference }) =>
    onDone(await pay.mutateAsync(reference)),
  )
  const total = payments.reduce((sum, { due }) => sum + Math.round(due * 100), 0) / 100
  return (
    <form onSubmit={onSubmit}>
      <Stack>
        <FormFault fault={fault} />
        <Text size="sm">
          {formatUsd(total)} to {formatCount(payments.length)} {payments.length === 1 ? 'publisher' : 'publishers'}.
          This moves no money: it notes that you have paid, and cannot be undone.
        </Text>
        <TextInput
          label="Reference"
          description="What names this payment, such as 2026-11 or the number of the transfer. Each publisher is paid once under it, so sending it twice does no harm."
          required
          maxLength={200}
          data-autofocus
          {...form.getInputProps('reference')}
        />
        <Button type="submit" loading={isSending}>
          Mark as paid
        </Button>
      </Stack>
    </form>
  )
}

function Outcome({ results, payments, onClose }: { results: Results; payments: Owed[]; onClose: () => void }) {
  const nameOf = (id: number) => payments.find(({ publisher_id }) => publisher_id === id)?.name ?? `Publisher ${id}`
  const others = results.filter(({ outcome }) => outcome !== 'paid')
  const paid = results.length - others.length
  return (
    <Stack>
      {paid > 0 && (
        <Alert color="green" role="status">
          {formatCount(paid)} {paid === 1 ? 'payment is' : 'payments are'} recorded.
        </Alert>
      )}
      {others.length > 0 && (
        <Alert color="yellow" role="alert" title={`${formatCount(others.length)} not recorded`}>
          <List size="sm">
            {others.map(({ publisher_id, message }) => (
              <List.Item key={publisher_id}>
                {nameOf(publisher_id)}: {message}
              </List.Item>
            ))}
          </List>
        </Alert>
      )}
      <Button variant="default" onClick={onClose}>
        Close
      </Button>
    </Stack>
  )
}
