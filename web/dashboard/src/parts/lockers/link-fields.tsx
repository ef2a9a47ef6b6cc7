// What only a link locker has.
import { Group, PasswordInput, Stack, Switch, TagsInput, TextInput, type TextInputProps } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { timeZone } from '../../lib/format.ts'
import { WholeInput } from '../amount-input.tsx'
import { AppPictureInput } from '../app-picture-input.tsx'
import { Section } from '../section.tsx'
import type { Locker } from './data.ts'
import type { LockerValues } from './values.ts'

export type FieldsProps = { form: UseFormReturnType<LockerValues>; appId: string; isReader: boolean }
type LinkFieldsProps = FieldsProps & { before: Locker | null }

/** For inputs side by side: what is below does not push one of them down. */
export const below: Pick<TextInputProps, 'inputWrapperOrder'> = {
  inputWrapperOrder: ['label', 'input', 'description', 'error'],
}

export function LinkFields({ form, isReader, before }: LinkFieldsProps) {
  const { asks_password, link } = form.values
  return (
    <Section title="Link">
      <TextInput
        label="Destination URL"
        description="Visitors see this URL only after they unlock the link."
        placeholder="https://"
        required
        maxLength={2_000}
        readOnly={isReader}
        {...form.getInputProps('link.target_url')}
      />
      {before === null && (
        <TextInput
          label="Slug"
          description="The end of the link: lowercase letters, digits and hyphens. Leave empty for a random one. Can’t be changed later."
          {...below}
          maxLength={64}
          {...form.getInputProps('slug')}
        />
      )}
      <Group align="flex-start">
        <TextInput
          type="datetime-local"
          label={`Expires (${timeZone()})`}
          description="Leave empty if the link never expires."
          {...below}
          readOnly={isReader}
          {...form.getInputProps('link.expires_at')}
        />
        <WholeInput
          label="Click limit"
          description="How often the link can be opened. Leave empty for no limit."
          {...below}
          placeholder="no limit"
          readOnly={isReader}
          {...form.getInputProps('link.click_limit')}
        />
      </Group>
      <Switch
        label="Ask for a password"
        disabled={isReader}
        {...form.getInputProps('asks_password', { type: 'checkbox' })}
      />
      {asks_password && (
        <PasswordInput
          label="Password"
          maw={400}
          required={before?.has_password !== true}
          description={before?.has_password === true ? 'Leave empty to keep the password.' : undefined}
          autoComplete="new-password"
          maxLength={200}
          readOnly={isReader}
          {...form.getInputProps('password')}
        />
      )}
      <TagsInput
        label="Allowed referrers"
        description="Sites that visitors may come from, such as https://www.example.com. Leave empty to allow any. Press Enter after each."
        placeholder={link.referrers.length === 0 ? 'https://www.example.com' : ''}
        acceptValueOnBlur
        maxTags={20}
        readOnly={isReader}
        {...form.getInputProps('link.referrers')}
      />
      {link.referrers.length > 0 && (
        <Switch
          label="Also allow visitors without a referrer"
          disabled={isReader}
          {...form.getInputProps('link.allows_no_referrer', { type: 'checkbox' })}
        />
      )}
    </Section>
  )
}

export function PreviewCardFields({ form, appId, isReader }: FieldsProps) {
  return (
    <Section title="Preview card" about="What other apps show when the link is shared.">
      <Stack>
        <TextInput
          label="Card title"
          placeholder="Same as the title"
          maxLength={120}
          readOnly={isReader}
          {...form.getInputProps('link.og_title')}
        />
        <TextInput
          label="Card text"
          placeholder="Same as the text"
          maxLength={300}
          readOnly={isReader}
          {...form.getInputProps('link.og_text')}
        />
        <AppPictureInput
          label="Card picture"
          appId={appId}
          isReader={isReader}
          input={form.getInputProps('link.og_image')}
        />
      </Stack>
    </Section>
  )
}
