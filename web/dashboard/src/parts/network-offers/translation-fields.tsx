import { Button, Fieldset, Group, Select, SimpleGrid, Stack, Text, Textarea, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { WALL_LANGUAGES } from '../../lib/api-types.ts'
import type { OfferValues, Translations } from './values.ts'

type OfferFormType = UseFormReturnType<OfferValues>

const LINES = { autosize: true, minRows: 2, maxRows: 8 }
const names = new Intl.DisplayNames('en', { type: 'language' })
const nameOf = (language: string) => names.of(language) ?? language

/** The texts of an offer and its goals in other languages. */
export function TranslationFields({ form, mayChange }: { form: OfferFormType; mayChange: boolean }) {
  const { translations, goals } = form.values
  const used = [
    ...new Set([translations, ...goals.map((goal) => goal.translations)].flatMap((some) => Object.keys(some))),
  ].toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)))
  const left = WALL_LANGUAGES.filter((language) => !used.includes(language))
  return (
    <Stack gap="sm">
      {['translations', ...goals.map((_, i) => `goals.${i}.translations`)].map((path) =>
        form.errors[path] === undefined ? null : (
          <Text key={path} c="var(--mantine-color-error)" size="sm" role="alert">
            {form.errors[path]}
          </Text>
        ),
      )}
      {used.map((language) => (
        <Language key={language} form={form} language={language} mayChange={mayChange} />
      ))}
      {used.length === 0 && !mayChange && <Text size="sm">None.</Text>}
      {mayChange && left.length > 0 && (
        <Select
          label="Add a language"
          placeholder="Language"
          maw={260}
          value={null}
          data={left.map((language) => ({ value: language, label: nameOf(language) }))}
          onChange={(language) => {
            if (language !== null) form.setFieldValue('translations', { ...translations, [language]: {} })
          }}
        />
      )}
    </Stack>
  )
}

function Language({ form, language, mayChange }: { form: OfferFormType; language: string; mayChange: boolean }) {
  const { values } = form
  const field = (of: 'translations' | `goals.${number}.translations`, texts: Translations, name: string) => {
    const path = `${of}.${language}.${name}`
    return {
      'data-path': path,
      value: texts[language]?.[name] ?? '',
      error: form.errors[path],
      lang: language,
      dir: 'auto' as const,
      onChange({ currentTarget: { value } }: { currentTarget: { value: string } }) {
        form.clearFieldError(path)
        form.setFieldValue(of, { ...texts, [language]: { ...texts[language], [name]: value } })
      },
    }
  }
  const text = (name: string) => field('translations', values.translations, name)
  const goalText = (i: number, name: string) =>
    field(`goals.${i}.translations`, values.goals[i]?.translations ?? {}, name)
  return (
    <Fieldset legend={nameOf(language)}>
      <Stack gap="sm">
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <TextInput label="Name" placeholder={values.name} {...text('name')} />
          <TextInput label="Time estimate" placeholder={values.time_estimate} {...text('time_estimate')} />
        </SimpleGrid>
        <Textarea label="Description" placeholder={values.description} {...LINES} {...text('description')} />
        <Textarea label="Requirements" placeholder={values.requirements} {...LINES} {...text('requirements')} />
        {values.goals.map(({ name, description }, i) => (
          <SimpleGrid key={i} cols={{ base: 1, sm: 2 }}>
            <TextInput label={`Goal ${i + 1} name`} placeholder={name} {...goalText(i, 'name')} />
            <TextInput label={`Goal ${i + 1} description`} placeholder={description} {...goalText(i, 'description')} />
          </SimpleGrid>
        ))}
        {mayChange && (
          <Group justify="end">
            <Button variant="subtle" color="red" size="xs" onClick={() => form.setValues(without(values, language))}>
              Remove {nameOf(language)}
            </Button>
          </Group>
        )}
      </Stack>
    </Fieldset>
  )
}

function without(values: OfferValues, language: string): Partial<OfferValues> {
  const { [language]: _offer, ...translations } = values.translations
  const goals = values.goals.map((goal) => {
    const { [language]: _goal, ...rest } = goal.translations
    return { ...goal, translations: rest }
  })
  return { translations, goals }
}
