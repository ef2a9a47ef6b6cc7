// What visitors see of a locker: its texts and picture, and a look of its own in place of the wall's.
import { Group, Select, SimpleGrid, Stack, Switch, TextInput } from '@mantine/core'
import { WholeInput } from '../amount-input.tsx'
import { AppPictureInput } from '../app-picture-input.tsx'
import { Section } from '../section.tsx'
import { Palette } from '../wall/palette.tsx'
import type { FieldsProps } from './link-fields.tsx'
import { LookPreview } from './look-preview.tsx'

export function ContentFields({ form, appId, isReader }: FieldsProps) {
  return (
    <Section title="What visitors see">
      <TextInput
        label="Title"
        placeholder="In the visitor’s language"
        maxLength={80}
        readOnly={isReader}
        {...form.getInputProps('title')}
      />
      <TextInput label="Text" maxLength={300} readOnly={isReader} {...form.getInputProps('text')} />
      <AppPictureInput label="Picture" appId={appId} isReader={isReader} input={form.getInputProps('image')} />
      <TextInput
        label="Consent line"
        description="A sentence that visitors read before they start, such as what you do with their data."
        maxLength={300}
        readOnly={isReader}
        {...form.getInputProps('consent')}
      />
      <Switch
        label="Custom appearance"
        description="Otherwise the locker uses the colors, corners and font of this app’s wall."
        disabled={isReader}
        {...form.getInputProps('has_look', { type: 'checkbox' })}
      />
      {form.values.has_look && <OwnLookFields form={form} isReader={isReader} />}
    </Section>
  )
}

function OwnLookFields({ form, isReader }: Omit<FieldsProps, 'appId'>) {
  const { look, title, text, consent } = form.values
  const palettes = {
    values: look,
    getInputProps: (path: string) => form.getInputProps(`look.${path}`),
  }
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="xl">
      <Stack>
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
            {...form.getInputProps('look.theme')}
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
            {...form.getInputProps('look.font')}
          />
          <WholeInput
            label="Corner radius"
            rightSection="px"
            disabled={isReader}
            {...form.getInputProps('look.radius')}
          />
        </Group>
        <Palette name="light" label="Light colors" form={palettes} isReader={isReader} />
        <Palette name="dark" label="Dark colors" form={palettes} isReader={isReader} />
      </Stack>
      <LookPreview look={look} texts={{ title, text, consent }} />
    </SimpleGrid>
  )
}
