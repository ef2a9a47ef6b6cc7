import { Button, Modal, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { IconCopyPlus } from '@tabler/icons-react'
import { useLocation } from 'wouter'
import { post } from '../../lib/api.ts'
import { useChange } from '../../lib/queries.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { FormError } from '../form-error.tsx'
import type { OfferData } from './values.ts'

export function Duplicate({ offer }: { offer: OfferData }) {
  const [isOpen, { open, close }] = useDisclosure()
  return (
    <>
      <Button variant="default" leftSection={<IconCopyPlus size={16} />} onClick={open}>
        Duplicate
      </Button>
      <Modal opened={isOpen} onClose={close} title="Duplicate this offer">
        <DuplicateForm offer={offer} close={close} />
      </Modal>
    </>
  )
}

function DuplicateForm({ offer, close }: { offer: OfferData; close: () => void }) {
  const [, navigate] = useLocation()
  const form = useForm({ initialValues: { name: offer.name, external_id: `${offer.external_id}-copy` } })
  const copy = useChange(
    (values: { name: string; external_id: string }) => post(`/offers/${offer.offer_id}/duplicate`, values),
    { refresh: ['/offers'], done: 'Copy created. It is paused until you resume it.', onError: () => {} },
  )
  const { formProps, isSending, error } = useSubmit(form, async (values) => {
    const { offer_id } = await copy.mutateAsync(values)
    close()
    navigate(`/network/offers/${offer_id}`)
  })
  return (
    <form {...formProps}>
      <Stack>
        <FormError error={error} />
        <TextInput label="Name" required data-autofocus {...form.getInputProps('name')} />
        <TextInput
          label="External ID"
          description="Must differ from the original: imports identify offers by it."
          required
          {...form.getInputProps('external_id')}
        />
        <Button type="submit" loading={isSending}>
          Create paused copy
        </Button>
      </Stack>
    </form>
  )
}
