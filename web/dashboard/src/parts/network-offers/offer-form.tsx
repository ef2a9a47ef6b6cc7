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
import { TranslationFields } from './translation-fields.tsx'
import type { OfferValues } from './values.ts'

type OfferFormProps = {
  initial: OfferValues
  isNew: boolean
  mayChange: boolean
  /** What the button says. */
  action?: string
  /** The advertiser that proposes it: it says less than an operator does. */
  proposer?: string
  /** It can be sent as it is, and not only once something was changed. */
  isReady?: boolean
  /** Resolves when it is saved; what it is rejected with is shown at its fields. */
  save: (values: OfferValues) => Promise<unknown>
}

export function OfferForm({
  initial,
  isNew,
  mayChange,
  proposer,
  action = isNew ? 'Create offer' : 'Save',
  isReady = isNew,
  save,
}: OfferFormProps) {
  const form = useForm({ initialValues: initial })
  const isProposal = proposer !== undefined
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
                <Section
                  title="Ownership"
                  about={
                    isProposal
                      ? 'It can’t be changed later.'
                      : 'Imports identify an offer by these two fields. They can’t be changed.'
                  }
                >
                  <SimpleGrid cols={{ base: 1, sm: 2 }}>
                    {!isProposal && (
                      <AdvertiserSelect label="Advertiser" required {...form.getInputProps('advertiser_id')} />
                    )}
                    <TextInput
                      label="External ID"
                      description={isProposal ? 'Your own ID of this offer.' : undefined}
                      required
                      {...form.getInputProps('external_id')}
                    />
                  </SimpleGrid>
                </Section>
              )}
              <Section title="What users see">
                <Fields form={form} part="look" proposer={proposer} />
              </Section>
              <Section title="Goals" about={isProposal ? PROPOSED_GOALS : GOALS}>
                <GoalFields form={form} isProposal={isProposal} />
              </Section>
              <Section
                title="Translations"
                about="Walls and lockers show translations to users of that language. Empty fields fall back to the texts above."
              >
                <TranslationFields form={form} mayChange={mayChange} />
              </Section>
              <Section title="Targeting and schedule">
                <Fields form={form} part="target" proposer={proposer} />
              </Section>
              <Section title={isProposal ? 'Caps' : 'Time limits and caps'} about="Days in UTC.">
                {!isProposal && <Fields form={form} part="terms" />}
                <Fields form={form} part="caps" proposer={proposer} />
              </Section>
              {!isProposal && (
                <Section
                  title="Recommendations"
                  about="Walls and lockers sort offers by expected earnings per click. You can override that for this offer here."
                >
                  <Fields form={form} part="ranking" />
                </Section>
              )}
            </Stack>
          </Grid.Col>
          <Grid.Col span={{ base: 12, lg: 4 }}>
            <Sticky>
              <Section title="Preview" about="As users see it.">
                <Preview values={form.values} hasRewards={!isProposal} />
              </Section>
            </Sticky>
          </Grid.Col>
        </Grid>
      </Fieldset>
      {mayChange && (
        <Group mt="lg">
          <Button type="submit" loading={isSending} disabled={!isReady && !form.isDirty()}>
            {action}
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

const GOALS =
  'What users do and what it pays: a fixed amount, or a percentage of the amount that the advertiser confirms. The offer pays the total of its goals.'
const PROPOSED_GOALS =
  'What users do and what you pay for it: a fixed amount, or a percentage of the amount that you confirm.'

const Sticky = ({ children }: { children: ReactNode }) => (
  <Box pos="sticky" top={76}>
    {children}
  </Box>
)
