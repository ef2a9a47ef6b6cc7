// Submits a form. All its problems are shown at once, each at its input, and those without one above the form.
import type { UseFormReturnType } from '@mantine/form'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { ApiError } from './api.ts'
import { useLeaveGuard } from './leave.ts'
import { useFollow } from './use-follow.ts'
import { findInvalid, showFirstProblem, sortProblems } from './problems.ts'

type SubmitOptions<V> = {
  /** A form that changes nothing, such as a search or signing in: it may be left without a question. */
  isQuestion?: boolean
  /** The server says what is missing, together with everything else that is wrong. */
  isLeftToServer?: boolean
  /** What is saved: the form shows what became of it meanwhile, such as in another tab. */
  follows?: V
}

/** `send` resolves to what the form shows from then on, if that is not what was sent; to false where nothing was sent. */
export function useSubmit<V extends Record<string, unknown>>(
  form: UseFormReturnType<V>,
  send: (values: V) => Promise<V | void | false>,
  { isQuestion = false, isLeftToServer = false, follows }: SubmitOptions<V> = {},
) {
  const [isSending, setSending] = useState(false)
  const [error, setError] = useState<string | null>(null)
  const refused = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (refused.current === null || isSending) return // the problems are not on the page yet
    showFirstProblem(refused.current)
    refused.current = null
  })
  useFollow(form, isSending ? undefined : follows)
  useLeaveGuard(!isQuestion && !isSending && form.isDirty())

  const onSubmit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    event.stopPropagation() // a dialog may be part of what another form shows
    const element = event.currentTarget
    setError(null)
    const { errors } = form.validate()
    const invalid = findInvalid(element)
    const unsent = { ...(isLeftToServer ? findInvalid(element, ({ badInput }) => badInput) : invalid), ...errors }
    form.setErrors(unsent)
    if (Object.keys(unsent).length > 0) {
      refused.current = element
      return
    }
    setSending(true)
    try {
      const sent = form.getValues()
      const saved = await send(sent)
      if (saved !== false) showSaved(form, sent, saved ?? sent)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      const [atInputs, rest] = sortProblems(error, element)
      form.setErrors({ ...atInputs, ...invalid })
      setError(rest)
      refused.current = element
    } finally {
      setSending(false)
    }
  }
  const formProps = { noValidate: true, onSubmit: (event: FormEvent<HTMLFormElement>) => void onSubmit(event) }
  return { formProps, isSending, error }
}

/** What was typed while it was being saved stays, and is still to be saved. */
function showSaved<V extends Record<string, unknown>>(form: UseFormReturnType<V>, sent: V, saved: V): void {
  const typed = Object.entries(form.getValues()).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(sent[name]),
  )
  form.resetDirty(saved)
  form.setValues({ ...saved, ...(Object.fromEntries(typed) as Partial<V>) })
}
