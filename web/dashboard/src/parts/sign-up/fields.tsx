// The fields of the sign-up form, as applicants and, in a preview, operators see it.
import { PasswordInput, Select, Text, Textarea, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import type { Schemas } from '../../lib/api-types.ts'
import { AcceptServiceTerms } from './service-terms.tsx'

export type SignUpForm = Pick<Schemas['SignUpForm'], 'intro' | 'terms' | 'questions'>

export const NO_VALUES = {
  name: '',
  email: '',
  password: '',
  company: '',
  website: '',
  answers: {} as Record<string, string>,
  /** The hash of the terms that are accepted. */
  terms_version: null as string | null,
}
export type SignUpValues = typeof NO_VALUES

type FieldsProps = { form: UseFormReturnType<SignUpValues>; asked: SignUpForm }

export function SignUpFields({ form, asked: { intro, terms, questions } }: FieldsProps) {
  return (
    <>
      {intro !== '' && (
        <Text size="sm" style={{ whiteSpace: 'pre-line', overflowWrap: 'anywhere' }}>
          {intro}
        </Text>
      )}
      <TextInput label="Your name" autoComplete="name" required {...form.getInputProps('name')} />
      <TextInput label="Email address" type="email" autoComplete="username" required {...form.getInputProps('email')} />
      <PasswordInput
        label="Password"
        description="12 characters or more. A short phrase works well."
        autoComplete="new-password"
        minLength={12}
        required
        {...form.getInputProps('password')}
      />
      <TextInput
        label="Company"
        description="Or your own name, if you work alone."
        autoComplete="organization"
        maxLength={180}
        required
        {...form.getInputProps('company')}
      />
      <TextInput
        label="Website"
        description="Your site, or your app’s page in a store."
        placeholder="https://example.com"
        type="url"
        required
        {...form.getInputProps('website')}
      />
      {questions.map((question) => (
        <Question key={question.question_id} form={form} question={question} />
      ))}
      {terms !== null && <AcceptServiceTerms terms={terms} input={form.getInputProps('terms_version')} />}
    </>
  )
}

type QuestionProps = Pick<FieldsProps, 'form'> & { question: SignUpForm['questions'][number] }

function Question({ form, question: { question_id, label, kind, is_required, choices } }: QuestionProps) {
  const path = `answers.${question_id}`
  const value = form.values.answers[question_id] ?? '' // it may have been added while the form was open
  const props = { label, required: is_required, ...form.getInputProps(path), value }
  if (kind === 'choice')
    return <Select data={choices} placeholder="Choose" {...props} value={value === '' ? null : value} />
  if (kind === 'long_text') return <Textarea autosize minRows={3} maxRows={10} maxLength={5_000} {...props} />
  if (kind === 'url') return <TextInput type="url" placeholder="https://example.com" maxLength={500} {...props} />
  return <TextInput maxLength={200} {...props} />
}
