import { PasswordInput, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { Schemas } from '../../lib/api-types.ts'
import { patch } from '../../lib/api.ts'
import { useChange } from '../../lib/queries.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { Section } from '../section.tsx'
import { SubmitForm } from '../submit-form.tsx'
import { checkCredentials, CredentialsInput, valuesIn } from './credentials.tsx'
import { bodyOf, checkSettings, SettingsFields, valuesOf } from './settings.tsx'

export function SettingsSection({ feed, mayChange }: { feed: Schemas['Feed']; mayChange: boolean }) {
  const isPreset = feed.preset !== null
  const rows = feed.credentials.map((name) => ({ name, value: '', isKept: true }))
  const form = useForm({
    initialValues: { name: feed.name, settings: valuesOf(feed.settings), credentials: rows },
    validate: { settings: checkSettings },
  })
  const { credentials } = form.getValues()
  const save = useChange(
    (values: typeof form.values) => {
      const given = valuesIn(values.credentials)
      const gone = feed.credentials.filter((name) => !values.credentials.some((row) => row.name.trim() === name))
      return patch(`/feeds/${feed.feed_id}`, {
        ...(form.isDirty('name') ? { name: values.name } : {}),
        // What was not edited here is left as it is by now: someone else may have changed it meanwhile.
        settings: Object.fromEntries(
          Object.entries(bodyOf(values.settings)).filter(([name]) => form.isDirty(`settings.${name}`)),
        ),
        ...(Object.keys(given).length === 0 ? {} : { credentials: given }),
        ...(gone.length === 0 ? {} : { remove_credentials: gone }),
      })
    },
    { refresh: ['/feeds'], done: 'Saved. The next run reads all offers again.', onError: () => {} },
  )
  const submit = useSubmit(form, async (values) => {
    const wrong = checkCredentials(values.credentials)
    if (wrong !== null) {
      form.setErrors({ credentials: wrong })
      return false
    }
    const saved = await save.mutateAsync(values)
    const kept = saved.credentials.map((name) => ({ name, value: '', isKept: true }))
    return { name: saved.name, settings: valuesOf(saved.settings), credentials: kept }
  })
  return (
    <Section title="Settings">
      <SubmitForm submit={submit} action="Save" mayChange={mayChange} button={{ style: { alignSelf: 'flex-start' } }}>
        <TextInput label="Name" required maw={420} disabled={!mayChange} {...form.getInputProps('name')} />
        <SettingsFields form={form} disabled={!mayChange} />
        {isPreset ? (
          credentials.map(({ name }, i) => (
            <PasswordInput
              key={name}
              label={`Credential: ${name}`}
              description="Stored encrypted. Leave empty to keep it."
              autoComplete="off"
              maw={420}
              disabled={!mayChange}
              {...form.getInputProps(`credentials.${i}.value`)}
            />
          ))
        ) : (
          <CredentialsInput
            value={credentials}
            error={form.errors['credentials']}
            disabled={!mayChange}
            onChange={(next) => form.setFieldValue('credentials', next)}
          />
        )}
      </SubmitForm>
    </Section>
  )
}
