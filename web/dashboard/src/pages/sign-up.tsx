import { Alert, Anchor, Button, List, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { Link } from 'wouter'
import type { Schemas } from '../lib/api-types.ts'
import { post } from '../lib/api.ts'
import { queryClient, useGet } from '../lib/queries.ts'
import { useSubmit } from '../lib/use-submit.ts'
import { Door } from '../parts/door.tsx'
import { FormError } from '../parts/form-error.tsx'
import { Loaded } from '../parts/page.tsx'
import { NO_VALUES, SignUpFields, type SignUpValues } from '../parts/sign-up/fields.tsx'

export default function SignUp() {
  const asked = useGet('/sign-up')
  const [mailedTo, setMailedTo] = useState<string | null>(null)
  if (mailedTo !== null) return <CheckMail email={mailedTo} />
  if (asked.data === undefined)
    return (
      <Door title="Sign up">
        <Loaded query={asked}>{() => null}</Loaded>
      </Door>
    )
  return (
    <Door title="Sign up" about={asked.data.is_open ? 'For publishers, who show offers to their users.' : undefined}>
      {asked.data.is_open ? (
        <SignUpForm asked={asked.data} onDone={setMailedTo} />
      ) : (
        <Alert color="gray" role="status">
          This network does not accept sign-ups at the moment.
        </Alert>
      )}
      <Anchor component={Link} href="/sign-in" size="sm">
        Already have an account? Sign in
      </Anchor>
    </Door>
  )
}

type FormProps = { asked: Schemas['SignUpForm']; onDone: (email: string) => void }

function SignUpForm({ asked, onDone }: FormProps) {
  const { terms, questions } = asked
  const form = useForm<SignUpValues>({ initialValues: NO_VALUES, validate: findUnchosen(questions) })
  const { formProps, isSending, error } = useSubmit(
    form,
    async ({ answers, terms_version: accepted, ...fields }) => {
      try {
        await post('/sign-up', {
          ...fields,
          terms_version: accepted === null ? null : (terms?.version ?? null),
          terms_hash: accepted,
          answers: questions.map(({ question_id }) => ({ question_id, answer: answers[question_id] ?? '' })),
        })
      } catch (failure) {
        await queryClient.invalidateQueries({ queryKey: ['/sign-up'] }) // other questions or terms, or closed
        throw failure
      }
      onDone(fields.email)
    },
    { isQuestion: true },
  )
  return (
    <form {...formProps}>
      <Stack>
        <FormError error={error} />
        <SignUpFields form={form} asked={asked} />
        <Button type="submit" loading={isSending}>
          Sign up
        </Button>
      </Stack>
    </form>
  )
}

/** A browser does not see that a choice is missing. */
const findUnchosen =
  (questions: FormProps['asked']['questions']) =>
  ({ answers }: SignUpValues) =>
    Object.fromEntries(
      questions
        .filter(({ kind, is_required, question_id: id }) => kind === 'choice' && is_required && !answers[id])
        .map(({ question_id }) => [`answers.${question_id}`, 'Required.']),
    )

function CheckMail({ email }: { email: string }) {
  return (
    <Door title="Check your email">
      <Alert color="blue" role="status">
        We have sent a message to {email}.
      </Alert>
      <Text size="sm" fw={600}>
        What happens next
      </Text>
      <List size="sm" type="ordered" spacing="xs">
        <List.Item>Open the link in the message within three days, and enter your password again.</List.Item>
        <List.Item>Create your app. Its test keys work immediately.</List.Item>
        <List.Item>The network reviews your application. You get an email when your live keys work.</List.Item>
      </List>
      <Text size="sm" c="dimmed">
        No message after a few minutes? Check your spam folder, or sign up again: each address gets up to three messages
        a day.
      </Text>
    </Door>
  )
}
