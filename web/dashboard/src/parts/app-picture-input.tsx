import { Button, Group, Stack, TextInput } from '@mantine/core'
import type { GetInputPropsReturnType } from '@mantine/form'
import { UploadButton, UploadError, useImageUpload } from './image-upload.tsx'

type AppPictureInputProps = {
  label: string
  description?: string
  appId: string
  isReader: boolean
  /** What a form gives for its field. */
  input: GetInputPropsReturnType
}

type Input = { value: string | null; onChange: (value: string | null) => void }

/** A picture that an app shows: a URL, or an upload. Empty: none. */
export function AppPictureInput({ label, description, appId, isReader, input }: AppPictureInputProps) {
  const { value, onChange, ...rest } = input as Input
  const upload = useImageUpload(onChange, `/apps/${appId}/wall/images`)
  return (
    <Stack gap={4}>
      <Group align="flex-end" gap="xs" wrap="nowrap">
        <TextInput
          label={label}
          {...(description === undefined ? {} : { description })}
          placeholder="https://…"
          flex={1}
          readOnly={isReader}
          {...rest}
          value={value ?? ''}
          onChange={(event) => onChange(event.currentTarget.value.trim() || null)}
        />
        {!isReader && <UploadButton upload={upload} />}
        {!isReader && value !== null && (
          <Button variant="subtle" color="red" onClick={() => onChange(null)}>
            Remove
          </Button>
        )}
      </Group>
      <UploadError upload={upload} />
    </Stack>
  )
}
