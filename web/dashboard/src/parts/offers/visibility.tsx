// Why a user does not see an offer.
import { Alert, Button, Group, List, Select, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import type { Schemas } from '../../lib/api-types.ts'
import { get } from '../../lib/api.ts'
import { useMode } from '../../lib/mode.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { choicesOf, oneOf, PLATFORMS } from '../../lib/words.ts'
import { FormError } from '../form-error.tsx'
import { Section } from '../section.tsx'
import { COUNTRIES } from '../../lib/countries.ts'

type Why = Schemas['OfferVisibility']

export function VisibilitySection({ appId, offerId }: { appId: string; offerId: string }) {
  const mode = useMode()
  const [answer, setAnswer] = useState<Why | null>(null)
  const form = useForm({
    initialValues: { offer_id: offerId, user_id: '', country: '', platform: '' },
    validate: { offer_id: (id) => (/^[1-9]\d{0,14}$/.test(id.trim()) ? null : 'Enter an offer ID, such as 59.') },
  })
  const { formProps, isSending, error } = useSubmit(
    form,
    async ({ offer_id, ...visit }) => {
      setAnswer(null)
      setAnswer(
        await get(`/apps/${appId}/offers/${offer_id.trim()}/why`, {
          ...visit,
          platform: oneOf(PLATFORMS, visit.platform),
          mode,
        }),
      )
    },
    { isQuestion: true },
  )
  const choose = (name: 'country' | 'platform') => ({
    value: form.values[name] === '' ? null : form.values[name],
    onChange: (value: string | null) => form.setFieldValue(name, value ?? ''),
    error: form.errors[name],
  })
  return (
    <Section title="Why can’t this user see this offer?" about="Empty fields are ignored.">
      <form {...formProps}>
        <Stack>
          <FormError error={error} />
          <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="sm">
            <TextInput label="Offer ID" inputMode="numeric" required {...form.getInputProps('offer_id')} />
            <TextInput label="User ID" maxLength={256} {...form.getInputProps('user_id')} />
            <Select label="Country" placeholder="Any" searchable clearable data={COUNTRIES} {...choose('country')} />
            <Select label="Platform" placeholder="Any" clearable data={choicesOf(PLATFORMS)} {...choose('platform')} />
          </SimpleGrid>
          <Group>
            <Button type="submit" loading={isSending}>
              Check
            </Button>
          </Group>
        </Stack>
      </form>
      {answer !== null && <Answer {...answer} />}
    </Section>
  )
}

function Answer({ offer_id, visible, reasons }: Why) {
  if (visible)
    return (
      <Alert color="green" role="status" title={`Offer ${offer_id} is visible`}>
        <Text size="sm">
          The user sees this offer. If it is missing from your list, check the filters and the page in your request.
        </Text>
      </Alert>
    )
  return (
    <Alert color="yellow" role="status" title={`Offer ${offer_id} is not visible`}>
      <List size="sm">
        {reasons.map(({ code, message }) => (
          <List.Item key={code}>{message}</List.Item>
        ))}
      </List>
    </Alert>
  )
}
