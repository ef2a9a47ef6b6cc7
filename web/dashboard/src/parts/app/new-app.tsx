import { Button, Group, Modal, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { IconPlus } from '@tabler/icons-react'
import { useLocation } from 'wouter'
import { checkPositive, amountOf } from '../../lib/amounts.ts'
import { post } from '../../lib/api.ts'
import { queryClient, useChange } from '../../lib/queries.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import type { BodyOf } from '../../lib/operations.ts'
import { SubmitForm } from '../submit-form.tsx'
import { RateExample } from './currency.tsx'
import { keepSecret } from './secrets.ts'

/** Makes an app and goes to it, where its secrets are shown. */
export function NewAppForm({ publisherId, onDone }: { publisherId: number; onDone?: () => void }) {
  const [, navigate] = useLocation()
  const form = useForm({
    initialValues: { name: '', currency: 'Coins', rate: '100' },
    validate: { rate: checkPositive },
  })
  const path = `/publishers/${publisherId}/apps` as const
  const create = useChange((body: BodyOf<'POST /publishers/{publisher_id}/apps'>) => post(path, body), {
    refresh: [path],
    onError: () => {},
  })
  const submit = useSubmit(form, async ({ rate, ...named }) => {
    const { app_id, live, test } = await create.mutateAsync({ ...named, rate: amountOf(rate) })
    for (const { api_key, api_secret, signing_secret } of [live, test]) {
      keepSecret(api_key, 'api', api_secret)
      keepSecret(api_key, 'signing', signing_secret)
    }
    onDone?.()
    navigate(`/apps/${app_id}`)
    void queryClient.invalidateQueries({ queryKey: ['/me'] }) // it knows the first app
  })
  return (
    <SubmitForm submit={submit} action="Create app">
      <TextInput
        label="Name"
        description="The name of your site or game."
        required
        data-autofocus
        {...form.getInputProps('name')}
      />
      <Group align="flex-start" grow>
        <TextInput label="Currency" required {...form.getInputProps('currency')} />
        <TextInput label="Units per US dollar" required inputMode="decimal" {...form.getInputProps('rate')} />
      </Group>
      <Text size="sm" c="dimmed">
        <RateExample currency={form.values.currency} rate={form.values.rate} /> You can change this later.
      </Text>
    </SubmitForm>
  )
}

export function NewAppButton({ publisherId }: { publisherId: number }) {
  const [isOpen, { open, close }] = useDisclosure()
  return (
    <>
      <Button variant="default" leftSection={<IconPlus size={16} />} onClick={open}>
        New app
      </Button>
      <Modal opened={isOpen} onClose={close} title="New app">
        <NewAppForm publisherId={publisherId} onDone={close} />
      </Modal>
    </>
  )
}
