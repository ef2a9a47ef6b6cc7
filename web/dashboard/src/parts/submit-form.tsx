import { Button, type ButtonProps, Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import type { useSubmit } from '../lib/use-submit.ts'
import { FormError } from './form-error.tsx'

type SubmitFormProps = {
  submit: ReturnType<typeof useSubmit>
  /** What the button says. */
  action: string
  button?: ButtonProps
  /** For those who only read there is no button. */
  mayChange?: boolean
  children: ReactNode
}

/** The fields of one thing that is sent, what was wrong with it, and the button. */
export function SubmitForm({ submit, action, button, mayChange = true, children }: SubmitFormProps) {
  const { formProps, isSending, error } = submit
  return (
    <form {...formProps}>
      <Stack>
        <FormError error={error} />
        {children}
        {mayChange && (
          <Button type="submit" loading={isSending} {...button}>
            {action}
          </Button>
        )}
      </Stack>
    </form>
  )
}
