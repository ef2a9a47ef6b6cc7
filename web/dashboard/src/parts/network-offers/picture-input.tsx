import { Group, TextInput, type TextInputProps } from '@mantine/core'
import { UploadButton, UploadError, useImageUpload } from '../image-upload.tsx'

type PictureInputProps = TextInputProps & {
  onUpload: (path: string) => void
  /** Whose it is: an operator's where there is none. */
  advertiserId: string | undefined
}

/** A URL, or a file: then its path on this server. */
export function PictureInput({ onUpload, advertiserId, ...props }: PictureInputProps) {
  const upload = useImageUpload(
    onUpload,
    advertiserId === undefined ? '/images' : `/advertisers/${advertiserId}/images`,
  )
  return (
    <div>
      <Group gap="xs" align="flex-end" wrap="nowrap">
        <TextInput {...props} flex={1} />
        <UploadButton upload={upload} />
      </Group>
      <UploadError upload={upload} />
    </div>
  )
}
