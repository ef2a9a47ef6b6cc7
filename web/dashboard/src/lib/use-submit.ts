// A form that is sent: its faults go to the fields they belong to, and what belongs to none is shown above them.
import type { UseFormReturnType } from '@mantine/form'
import { useState } from 'react'
import { ApiError } from './api.ts'

export function useSubmit<V extends Record<string, unknown>>(
  form: UseFormReturnType<V>,
  send: (values: V) => Promise<void>,
): { onSubmit: (event?: React.FormEvent<HTMLFormElement>) => void; isSending: boolean; fault: string | null } {
  const [isSending, setSending] = useState(false)
  const [fault, setFault] = useState<string | null>(null)
  const onSubmit = form.onSubmit((values) => {
    setSending(true)
    setFault(null)
    send(values)
      .catch((error: unknown) => {
        if (!(error instanceof ApiError)) throw error
        const known = Object.keys(error.details).filter((name) => name in values)
        form.setErrors(Object.fromEntries(known.map((name) => [name, withoutName(name, error.details[name] ?? '')])))
        setFault(known.length > 0 && known.length === Object.keys(error.details).length ? null : error.message)
      })
      .finally(() => setSending(false))
  })
  return { onSubmit, isSending, fault }
}

/** The error stands beside the label of its field, whose name in the API nobody on the page knows. */
export function withoutName(name: string, error: string): string {
  if (!error.startsWith(`${name} `)) return error
  const rest = error.slice(name.length + 1)
  return rest.charAt(0).toUpperCase() + rest.slice(1)
}
