import { Button, Group, Stack, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { UploadButton, UploadError, useImageUpload } from '../image-upload.tsx'
import type { WallSettings } from './data.ts'

type PictureInputProps = {
  name: 'logo' | 'hero' | 'currency_icon'
  label: string
  appId: string
  form: UseFormReturnType<WallSettings>
  isReader: boolean
}

/** A URL, or an upload. Empty: none. */
export function PictureInput({ name, label, appId, form, isReader }: PictureInputProps) {
  const upload = useImageUpload((path) => form.setFieldValue(name, path), appId)
  const value = form.values[name]
  return (
    <Stack gap={4}>
      <Group align="flex-end" gap="xs" wrap="nowrap">
        <TextInput
          label={label}
          placeholder="https://… or upload one"
          flex={1}
          disabled={isReader}
          {...form.getInputProps(name)}
          value={value ?? ''}
          onChange={(event) => form.setFieldValue(name, event.currentTarget.value.trim() || null)}
        />
        {!isReader && <UploadButton upload={upload} />}
        {!isReader && value !== null && (
          <Button variant="subtle" color="red" onClick={() => form.setFieldValue(name, null)}>
            Remove
          </Button>
        )}
      </Group>
      <UploadError upload={upload} />
    </Stack>
  )
}
