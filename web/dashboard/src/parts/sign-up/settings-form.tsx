// The settings of sign-up, with a preview of the form that follows every change.
import {
  Alert,
  Anchor,
  Button,
  Group,
  SegmentedControl,
  SimpleGrid,
  Stack,
  Switch,
  TagsInput,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { checkWhole } from '../../lib/amounts.ts'
import type { Schemas } from '../../lib/api-types.ts'
import { put } from '../../lib/api.ts'
import { mayWrite, useMe } from '../../lib/me.ts'
import { queryClient } from '../../lib/queries.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { FormError } from '../form-error.tsx'
import { Section } from '../section.tsx'
import { NO_VALUES, SignUpFields } from './fields.tsx'
import { QuestionFields } from './question-fields.tsx'
import { readSettings, type SettingsValues, valuesOf } from './values.ts'

type Known = Schemas['SignUpSettingsReply']

const PATH = '/sign-up/settings'

export function SignUpSettingsForm({ known }: { known: Known }) {
  const mayChange = mayWrite(useMe())
  const form = useForm<SettingsValues>({
    initialValues: valuesOf(known),
    validate: { per_hour: checkWhole(1, 1_000) },
  })
  const { formProps, isSending, error } = useSubmit(
    form,
    async (values) => {
      try {
        await put(PATH, readSettings(values))
      } finally {
        await queryClient.invalidateQueries({ queryKey: [PATH] }) // refused: what it is now is shown beside what was typed
      }
      void queryClient.invalidateQueries({ queryKey: ['/sign-up'] })
      notifications.show({ message: 'Saved, effective immediately.', color: 'green' })
    },
    { follows: valuesOf(known) },
  )
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
      <form {...formProps}>
        <fieldset disabled={!mayChange} style={{ border: 0, margin: 0, padding: 0, minWidth: 0 }}>
          <Stack>
            <FormError error={error} />
            <Opening form={form} known={known} />
            <Terms form={form} />
            <Section title="Questions" about="Asked in addition to name, email address, password, company and website.">
              <QuestionFields form={form} />
            </Section>
            <Limits form={form} known={known} />
            {mayChange && (
              <Group>
                <Button type="submit" loading={isSending}>
                  Save
                </Button>
              </Group>
            )}
          </Stack>
        </fieldset>
      </form>
      <Preview values={form.values} />
    </SimpleGrid>
  )
}

type PartProps = { form: UseFormReturnType<SettingsValues> }

function Opening({ form, known: { has_mail } }: PartProps & { known: Known }) {
  const url = `${window.location.origin}/sign-up`
  return (
    <Section title="Sign-up">
      {!has_mail && (
        <Alert color="yellow" role="status">
          Sign-up verifies email addresses, and this network has no mail server. Set SMTP_URL and restart the server to
          open it.
        </Alert>
      )}
      <Switch
        label="Publishers can sign up"
        description="They get test keys immediately. Live keys work once you approve the publisher."
        disabled={!has_mail && !form.values.is_open}
        {...form.getInputProps('is_open', { type: 'checkbox' })}
      />
      {form.values.is_open && (
        <Text size="sm">
          The form is at{' '}
          <Anchor href={url} target="_blank" inherit>
            {url}
          </Anchor>
        </Text>
      )}
      <Textarea
        label="Introduction"
        description="Shown above the form."
        autosize
        minRows={2}
        maxLength={1_000}
        {...form.getInputProps('intro')}
      />
    </Section>
  )
}

const TERMS_KINDS = [
  { value: 'none', label: 'None' },
  { value: 'url', label: 'Link' },
  { value: 'text', label: 'Text' },
]

function Terms({ form }: PartProps) {
  const { kind } = form.values.terms
  return (
    <Section
      title="Terms of service"
      about="Accepted with the form; version and time are recorded. When you change the version, owners of publishers that signed up are asked again the next time they open the dashboard."
    >
      <SegmentedControl
        aria-label="Terms of service"
        data={TERMS_KINDS}
        style={{ alignSelf: 'flex-start' }}
        {...form.getInputProps('terms.kind')}
      />
      {kind !== 'none' && (
        <TextInput
          label="Version"
          placeholder="2026-11-01"
          maxLength={40}
          required
          {...form.getInputProps('terms.version')}
        />
      )}
      {kind === 'url' && (
        <TextInput
          label="URL of the terms"
          type="url"
          placeholder="https://example.com/terms"
          maxLength={500}
          required
          {...form.getInputProps('terms.url')}
        />
      )}
      {kind === 'text' && (
        <Textarea
          label="Text of the terms"
          autosize
          minRows={4}
          maxRows={16}
          maxLength={50_000}
          required
          {...form.getInputProps('terms.text')}
        />
      )}
    </Section>
  )
}

function Limits({ form, known: { last_hour, unverified } }: PartProps & { known: Known }) {
  return (
    <Section
      title="Limits"
      about="A mailbox gets up to 3 messages a day; an IP address can sign up 5 times an hour, and its network 20 times. Sign-ups that are not verified are deleted after 3 days."
    >
      <TextInput
        label="Sign-ups per hour"
        description={`In total. In the last hour: ${last_hour}. Waiting for verification: ${unverified}.`}
        inputMode="numeric"
        required
        styles={{ wrapper: { maxWidth: 160 } }}
        {...form.getInputProps('per_hour')}
      />
      <TagsInput
        label="Blocked email domains"
        description="Such as mailinator.com, with all domains below it. Press Enter after each."
        placeholder={form.values.blocked_domains.length === 0 ? 'example.com' : ''}
        acceptValueOnBlur
        maxTags={500}
        {...form.getInputProps('blocked_domains')}
      />
    </Section>
  )
}

/** Outside of the form that is edited: its fields are not to be filled in. */
function Preview({ values }: { values: SettingsValues }) {
  const form = useForm({ initialValues: NO_VALUES })
  const { intro, terms: given, questions } = readSettings(values)
  const terms = given === null ? null : { ...given, hash: '' }
  return (
    <div>
      <Section title="Preview" about="As applicants see the form.">
        <fieldset
          disabled
          aria-label="Preview of the form"
          style={{ border: 0, margin: 0, padding: 0, minWidth: 0, maxWidth: 420 }}
        >
          <Stack>
            <SignUpFields form={form} asked={{ intro, terms, questions }} />
            <Button disabled>Sign up</Button>
          </Stack>
        </fieldset>
      </Section>
    </div>
  )
}
