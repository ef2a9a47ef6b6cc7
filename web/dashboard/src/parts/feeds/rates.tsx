// What other currencies are worth.
import { Button, FileButton, Group, Modal, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { IconPlus, IconUpload } from '@tabler/icons-react'
import { useRef } from 'react'
import { post, put } from '../../lib/api.ts'
import { formatNoun } from '../../lib/format.ts'
import { useChange, useGet } from '../../lib/queries.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { notifications } from '@mantine/notifications'
import { DataTable } from '../data-table.tsx'
import { Empty, Loaded } from '../page.tsx'
import { Section } from '../section.tsx'
import { SubmitForm } from '../submit-form.tsx'

export function RatesSection({ mayChange }: { mayChange: boolean }) {
  const rates = useGet('/rates')
  const [isOpen, { open, close }] = useDisclosure()
  const reset = useRef<() => void>(null) // so that a file that was mended can be chosen again
  const upload = useChange(async (file: File) => post('/rates/import', { csv: await file.text() }), {
    refresh: ['/rates'],
    onDone: ({ changed }) => notifications.show({ message: changed === 0 ? 'No changes: all of these rates are already stored.' : `${formatNoun(changed, 'rate')} imported.`, color: 'green' }), // prettier-ignore
  })
  const choose = (file: File | null) => {
    if (file !== null) upload.mutate(file)
    reset.current?.()
  }
  return (
    <Section
      title="Exchange rates"
      about="For feeds and callbacks in currencies other than US dollars. A rate applies from its day until the next one. CSV files: eurofxref.csv from the European Central Bank, or columns currency, day and usd."
    >
      {mayChange && (
        <Group>
          <Button variant="default" leftSection={<IconPlus size={16} />} onClick={open}>
            Set a rate
          </Button>
          <FileButton accept=".csv,text/csv" onChange={choose} resetRef={reset}>
            {(props) => (
              <Button {...props} variant="default" leftSection={<IconUpload size={16} />} loading={upload.isPending}>
                Import a CSV file
              </Button>
            )}
          </FileButton>
        </Group>
      )}
      <Modal opened={isOpen} onClose={close} title="Set a rate">
        <SetRate onDone={close} />
      </Modal>
      <Loaded query={rates}>
        {(data) => (
          <DataTable
            label="Exchange rates"
            isPlain
            minWidth={360}
            rows={data.rates}
            rowKey={({ currency }) => currency}
            empty={<Empty title="No rates yet">Offers in other currencies are skipped until there is a rate.</Empty>}
            columns={[
              { name: 'Currency', cell: ({ currency }) => currency },
              { name: 'US dollars per unit', isNumber: true, cell: ({ usd }) => usd },
              { name: 'Since', cell: ({ day }) => day },
            ]}
          />
        )}
      </Loaded>
    </Section>
  )
}

function SetRate({ onDone }: { onDone: () => void }) {
  const today = new Date().toISOString().slice(0, 10)
  const form = useForm({ initialValues: { rates: [{ currency: '', usd: '', day: today }] } })
  const set = useChange((values: typeof form.values) => put('/rates', { rates: values.rates.map((rate) => ({ ...rate, currency: rate.currency.trim().toUpperCase(), usd: rate.usd.trim() })) }), { refresh: ['/rates'], done: 'Rate set.', onError: () => {} }) // prettier-ignore
  const submit = useSubmit(form, async (values) => {
    await set.mutateAsync(values)
    onDone()
  })
  return (
    <SubmitForm submit={submit} action="Set rate">
      <Stack>
        <TextInput
          label="Currency"
          placeholder="EUR"
          required
          maxLength={3}
          data-autofocus
          {...form.getInputProps('rates.0.currency')}
        />
        <TextInput label="US dollars per unit" placeholder="1.0842" required {...form.getInputProps('rates.0.usd')} />
        <TextInput label="Since" type="date" required {...form.getInputProps('rates.0.day')} />
      </Stack>
    </SubmitForm>
  )
}
