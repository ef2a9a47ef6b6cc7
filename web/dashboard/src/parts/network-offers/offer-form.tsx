import { Box, Button, Fieldset, Grid, Group, SimpleGrid, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { ReactNode } from 'react'
import { useSubmit } from '../../lib/use-submit.ts'
import { AdvertiserSelect } from '../advertisers/advertiser-select.tsx'
import { FormError } from '../form-error.tsx'
import { Section } from '../section.tsx'
import { Fields } from './fields.tsx'
import { GoalFields } from './goal-fields.tsx'
import { Preview } from './preview.tsx'
import type { OfferValues } from './values.ts'

type OfferFormProps = {
  initial: OfferValues
  isNew: boolean
  mayChange: boolean
  /** Resolves when it is saved; what it is rejected with is shown at its fields. */
  save: (values: OfferValues) => Promise<unknown>
}

export function OfferForm({ initial, isNew, mayChange, save }: OfferFormProps) {
  const form = useForm({ initialValues: initial })
  const { formProps, isSending, error } = useSubmit(
    form,
    async (values) => {
      await save(values)
    },
    { isLeftToServer: true },
  )
  return (
    <form {...formProps}>
      <Fieldset variant="unstyled" disabled={!mayChange} aria-label="Offer">
        <Grid gap="lg">
          <Grid.Col span={{ base: 12, lg: 8 }}>
            <Stack gap="lg">
              <FormError error={error} />
              {isNew && (
                <Section title="Ownership" about="Imports identify an offer by these two. They can’t be changed.">
                  <SimpleGrid cols={{ base: 1, sm: 2 }}>
                    <AdvertiserSelect label="Advertiser" required {...form.getInputProps('advertiser_id')} />
                    <TextInput label="External ID" required {...form.getInputProps('external_id')} />
                  </SimpleGrid>
                </Section>
              )}
              <Section title="What users see">
                <Fields form={form} part="look" />
              </Section>
              <Section
                title="Goals"
                about="What users do and what it pays: a fixed amount, or a percentage of the amount that the advertiser confirms. The offer pays the total of its goals."
              >
                <GoalFields form={form} />
              </Section>
              <Section title="Targeting and schedule">
                <Fields form={form} part="target" />
              </Section>
              <Section title="Time limits and caps" about="Days in UTC.">
                <Fields form={form} part="terms" />
                <Fields form={form} part="caps" />
              </Section>
            </Stack>
          </Grid.Col>
          <Grid.Col span={{ base: 12, lg: 4 }}>
            <Sticky>
              <Section title="Preview" about="As users see it.">
                <Preview values={form.values} />
              </Section>
            </Sticky>
          </Grid.Col>
        </Grid>
      </Fieldset>
      {mayChange && (
        <Group mt="lg">
          <Button type="submit" loading={isSending} disabled={!isNew && !form.isDirty()}>
            {isNew ? 'Create offer' : 'Save'}
          </Button>
          {!isNew && form.isDirty() && (
            <Button variant="default" onClick={() => form.reset()}>
              Discard changes
            </Button>
          )}
        </Group>
      )}
    </form>
  )
}

const Sticky = ({ children }: { children: ReactNode }) => (
  <Box pos="sticky" top={76}>
    {children}
  </Box>
)
