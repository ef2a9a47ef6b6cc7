import { Alert } from '@mantine/core'

export function FormFault({ fault }: { fault: string | null }) {
  return fault === null ? null : (
    <Alert color="red" role="alert">
      {fault}
    </Alert>
  )
}
