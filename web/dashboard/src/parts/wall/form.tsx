// The settings of a wall, with a preview that follows every change.
import { Button, Fieldset, Group, Select, SimpleGrid, Stack, Switch, TagsInput, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { readWhole } from '../../lib/amounts.ts'
import { put } from '../../lib/api.ts'
import { mayWrite, useMe } from '../../lib/me.ts'
import type { BodyOf } from '../../lib/operations.ts'
import { queryClient, useChange } from '../../lib/queries.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { WholeInput } from '../amount-input.tsx'
import { AppPictureInput } from '../app-picture-input.tsx'
import { FormError } from '../form-error.tsx'
import { Section } from '../section.tsx'
import type { WalledApp, WallSettings } from './data.ts'
import { Palette } from './palette.tsx'
import { Preview } from './preview.tsx'

const SHOWN = [
  ['search', 'Search'],
  ['categories', 'Categories'],
  ['sort', 'Sorting'],
  ['badges', 'Badges'],
  ['activity', 'Activity of signed users'],
  ['support', 'Help: tickets of signed users'],
] as const

export function WallForm({ app, settings }: { app: WalledApp; settings: WallSettings }) {
  const appId = String(app.app_id)
  const isReader = !mayWrite(useMe())
  const form = useForm<WallSettings>({ initialValues: settings })
  const save = useChange((body: BodyOf<'PUT /apps/{app_id}/wall'>) => put(`/apps/${appId}/wall`, body), {
    refresh: [`/apps/${appId}/wall`],
    done: 'Saved. New visitors see it within seconds.',
    onError: () => void queryClient.invalidateQueries({ queryKey: [`/apps/${appId}/wall`] }), // changed meanwhile: shown
  })
  const { formProps, isSending, error } = useSubmit(form, (values) => save.mutateAsync(values), { follows: settings })
  return (
    <form {...formProps}>
      <Stack gap="lg">
        <FormError error={error} />
        <Section title="Access" about="Who may show the wall, and to whom.">
          <Switch
            label="Show the wall to signed users only"
            description="Without a valid signature the wall shows no offers."
            disabled={isReader}
            {...form.getInputProps('require_signature', { type: 'checkbox' })}
          />
          <TagsInput
            label="Sites that may embed the wall"
            description="Such as https://www.example.com or https://*.example.com. Leave empty to allow any. Press Enter after each."
            placeholder={form.values.parents.length === 0 ? 'https://www.example.com' : ''}
            acceptValueOnBlur
            maxTags={20}
            disabled={isReader}
            {...form.getInputProps('parents')}
          />
        </Section>
        <Section title="Appearance" about="Changes appear in the preview immediately, and to users when you save.">
          <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="xl">
            <Stack>
              <TextInput
                label="Title"
                placeholder="In the user’s language"
                maxLength={80}
                disabled={isReader}
                {...form.getInputProps('title')}
              />
              <TextInput
                label="Intro"
                placeholder="In the user’s language"
                maxLength={200}
                disabled={isReader}
                {...form.getInputProps('intro')}
              />
              <Group grow align="flex-start">
                <Select
                  label="Theme"
                  data={[
                    { value: 'auto', label: 'Match device' },
                    { value: 'light', label: 'Light' },
                    { value: 'dark', label: 'Dark' },
                  ]}
                  allowDeselect={false}
                  disabled={isReader}
                  {...form.getInputProps('theme')}
                />
                <Select
                  label="Font"
                  data={[
                    { value: 'system', label: 'System' },
                    { value: 'rounded', label: 'Rounded' },
                    { value: 'serif', label: 'Serif' },
                    { value: 'mono', label: 'Monospace' },
                  ]}
                  allowDeselect={false}
                  disabled={isReader}
                  {...form.getInputProps('font')}
                />
                <WholeInput
                  label="Corner radius"
                  rightSection="px"
                  disabled={isReader}
                  {...form.getInputProps('radius')}
                  onChange={
                    ({ currentTarget: { value } }) =>
                      form.setFieldValue('radius', (readWhole(value) ?? value) as number) // the server refuses what is none
                  }
                />
              </Group>
              <Palette name="light" label="Light colors" form={form} isReader={isReader} />
              <Palette name="dark" label="Dark colors" form={form} isReader={isReader} />
              <AppPictureInput label="Logo" appId={appId} isReader={isReader} input={form.getInputProps('logo')} />
              <AppPictureInput
                label="Header picture"
                appId={appId}
                isReader={isReader}
                input={form.getInputProps('hero')}
              />
              <AppPictureInput
                label="Currency icon"
                appId={appId}
                isReader={isReader}
                input={form.getInputProps('currency_icon')}
              />
              <Fieldset legend="Visible sections">
                <Stack gap="xs">
                  {SHOWN.map(([name, label]) => (
                    <Switch
                      key={name}
                      label={label}
                      disabled={isReader}
                      {...form.getInputProps(`shows.${name}`, { type: 'checkbox' })}
                    />
                  ))}
                </Stack>
              </Fieldset>
            </Stack>
            <Preview appId={appId} settings={form.values} />
          </SimpleGrid>
        </Section>
        {!isReader && (
          <Group>
            <Button type="submit" loading={isSending} disabled={!form.isDirty()}>
              Save
            </Button>
          </Group>
        )}
      </Stack>
    </form>
  )
}
