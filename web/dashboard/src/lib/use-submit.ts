// Submits a form: errors are shown at their fields, and those without a field above the form.
import type { UseFormReturnType } from '@mantine/form'
import { useState } from 'react'
import { ApiError, type Details } from './api.ts'

export function useSubmit<V extends Record<string, unknown>>(
  form: UseFormReturnType<V>,
  send: (values: V) => Promise<void>,
): { onSubmit: (event?: React.FormEvent<HTMLFormElement>) => void; isSending: boolean; error: string | null } {
  const [isSending, setSending] = useState(false)
  const [error, setError] = useState<string | null>(null)
  const onSubmit = form.onSubmit((values) => {
    setSending(true)
    setError(null)
    send(values)
      .catch((error: unknown) => {
        if (!(error instanceof ApiError)) throw error
        const [errors, rest] = sortErrors(error, (name) => name in values)
        form.setErrors(errors)
        setError(rest)
      })
      .finally(() => setSending(false))
  })
  return { onSubmit, isSending, error }
}

/** What belongs to a field, by its name; and the rest, where there is any. An item of a list belongs to the list. */
function sortErrors({ details, message }: ApiError, isField: (name: string) => boolean): [Details, string | null] {
  const sorted = Object.entries(details).map(([path, error]) => ({ path, field: path.split('.')[0] ?? path, error }))
  const known = sorted.filter(({ field }) => isField(field))
  const rest = sorted.filter(({ field }) => !isField(field)).map(({ error }) => error)
  const errors = Object.fromEntries(known.map(({ path, field, error }) => [field, withoutName(path, error)]))
  return [errors, sorted.length === 0 ? message : rest.length === 0 ? null : rest.join(' ')]
}

/** The error stands beside the label of its field, whose name in the API nobody on the page knows. */
function withoutName(name: string, error: string): string {
  if (!error.startsWith(`${name} `)) return error
  const rest = error.slice(name.length + 1)
  return rest.charAt(0).toUpperCase() + rest.slice(1)
}
