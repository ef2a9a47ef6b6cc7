import { Alert } from '@mantine/core'

export function FormError({ error }: { error: string | null }) {
  return error === null ? null : (
    <Alert color="red" role="alert">
      {error}
    </Alert>
  )
}
