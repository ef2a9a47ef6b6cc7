import { Select, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { patch } from '../../lib/api.ts'
import { exampleOf, formatLanguage } from '../../lib/format.ts'
import { useMe } from '../../lib/me.ts'
import { useChange } from '../../lib/queries.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { Section } from '../section.tsx'
import { SubmitForm } from '../submit-form.tsx'
import { ZoneSelect } from '../zone-select.tsx'

const LOCALES = 'en-US en-GB en-AU en-CA en-IN en-IE en-ZA cs-CZ da-DK de-AT de-CH de-DE el-GR es-ES es-MX et-EE fi-FI fr-CA fr-CH fr-FR he-IL hu-HU id-ID it-IT ja-JP ko-KR lt-LT lv-LV nb-NO nl-NL pl-PL pt-BR pt-PT ro-RO ru-RU sk-SK sv-SE th-TH tr-TR uk-UA vi-VN zh-CN zh-TW'.split(' ') // prettier-ignore
const browserZone = () => new Intl.DateTimeFormat().resolvedOptions().timeZone

export function ProfileSection() {
  const me = useMe()
  const save = useChange((body: Profile) => patch('/me', body), { refresh: ['/me'], done: 'Profile saved.', onError: () => {} }) // prettier-ignore
  const form = useForm({
    initialValues: { name: me.name, time_zone: me.time_zone ?? '', locale: me.locale ?? '' },
  })
  const submit = useSubmit(form, async ({ name, time_zone, locale }) => {
    await save.mutateAsync({ name, time_zone: time_zone || null, locale: locale || null })
  })
  const { time_zone, locale } = form.getValues()
  const locales = [...new Set([...LOCALES, ...(me.locale === null ? [] : [me.locale])])]
  return (
    <Section title="Profile" about="Your name as others see it, and how times and numbers are shown to you.">
      <Stack maw={360}>
        <SubmitForm submit={submit} action="Save profile" button={{ style: { alignSelf: 'flex-start' } }}>
          <TextInput label="Name" autoComplete="name" required maxLength={200} {...form.getInputProps('name')} />
          <ZoneSelect
            {...form.getInputProps('time_zone')}
            value={time_zone}
            description="Also decides when a day begins in reports about your apps."
            emptyLabel={`Browser: ${browserZone()}`}
          />
          <Select
            label="Numbers and dates"
            searchable
            allowDeselect={false}
            limit={100}
            nothingFoundMessage="No such language"
            data={[
              { value: '', label: `Browser: ${formatLanguage(navigator.language)}` },
              ...locales.map((tag) => ({ value: tag, label: formatLanguage(tag) })),
            ]}
            {...form.getInputProps('locale')}
          />
          <Text size="sm" c="dimmed">
            Example: {exampleOf(locale || undefined, time_zone || undefined)}
          </Text>
        </SubmitForm>
      </Stack>
    </Section>
  )
}

type Profile = { name: string; time_zone: string | null; locale: string | null }
