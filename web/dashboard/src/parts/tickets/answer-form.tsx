import { Textarea } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useRef } from 'react'
import { post } from '../../lib/api.ts'
import type { Schemas } from '../../lib/api-types.ts'
import { newKey } from '../../lib/new-key.ts'
import type { BodyOf } from '../../lib/operations.ts'
import { useChange } from '../../lib/queries.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { SubmitForm } from '../submit-form.tsx'

const MAX_LENGTH = 2_000

type AnswerFormProps = { appId: string; ticket: Schemas['Ticket'] }

/** The same text sent again, after an answer that was lost, is the same message. */
export function AnswerForm({ appId, ticket: { ticket_id, emails_answers } }: AnswerFormProps) {
  const form = useForm({ initialValues: { text: '' } })
  const sent = useRef({ text: '', key: '' })
  const answer = useChange(
    (body: BodyOf<'POST /apps/{app_id}/tickets/{ticket_id}/messages'>) =>
      post(`/apps/${appId}/tickets/${ticket_id}/messages`, body),
    { refresh: [`/apps/${appId}/tickets`], onError: () => {} },
  )
  const submit = useSubmit(form, async ({ text }) => {
    if (sent.current.text !== text) sent.current = { text, key: newKey() }
    await answer.mutateAsync(sent.current)
    sent.current = { text: '', key: '' }
    return form.getInitialValues()
  })
  return (
    <SubmitForm submit={submit} action="Send answer">
      <Textarea
        label="Answer"
        description={`The user sees it on the wall, without your name${emails_answers ? ', and gets it by email' : ''}.`}
        required
        withAsterisk={false}
        autosize
        minRows={3}
        maxLength={MAX_LENGTH}
        {...form.getInputProps('text')}
      />
    </SubmitForm>
  )
}
