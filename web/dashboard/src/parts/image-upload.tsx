import { Button, FileButton, Text } from '@mantine/core'
import { IconUpload } from '@tabler/icons-react'
import { useRef } from 'react'
import { post } from '../lib/api.ts'
import { describeProblems } from '../lib/problems.ts'
import { useChange } from '../lib/queries.ts'

const MAX_BYTES = 1_048_576
const TYPES = 'image/png,image/jpeg,image/webp,image/gif'

type UploadPath = '/images' | `/apps/${string}/wall/images` | `/advertisers/${string}/images`

/** `onUpload` gets the path of the image on this server. `to`: where it is sent, by who may. */
export const useImageUpload = (onUpload: (path: string) => void, to: UploadPath = '/images') =>
  useChange(async (file: File) => post(to, { content: await toBase64(file) }), {
    onDone: ({ path }) => onUpload(path),
    onError: () => {}, // shown by UploadError
  })

type Upload = ReturnType<typeof useImageUpload>

export function UploadButton({ upload, label = 'Upload' }: { upload: Upload; label?: string }) {
  const reset = useRef<() => void>(null) // so that the same file can be chosen again
  const choose = (file: File | null) => {
    if (file !== null) upload.mutate(file)
    reset.current?.()
  }
  return (
    <FileButton onChange={choose} accept={TYPES} resetRef={reset}>
      {(button) => (
        <Button {...button} variant="default" loading={upload.isPending} leftSection={<IconUpload size={16} />}>
          {label}
        </Button>
      )}
    </FileButton>
  )
}

export function UploadError({ upload }: { upload: Upload }) {
  return upload.error === null ? null : (
    <Text c="red" size="sm" role="alert">
      {describeProblems(upload.error)}
    </Text>
  )
}

/** A file that is too large is not sent: its first bytes and its length are enough to be refused. */
async function toBase64(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.slice(0, MAX_BYTES + 1).arrayBuffer())
  let text = ''
  for (let at = 0; at < bytes.length; at += 8_192) text += String.fromCharCode(...bytes.subarray(at, at + 8_192))
  return btoa(text)
}
