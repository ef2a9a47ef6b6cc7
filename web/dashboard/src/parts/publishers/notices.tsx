import { Button, Group, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { patch } from '../../lib/api.ts'
import { useChange } from '../../lib/queries.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { FormError } from '../form-error.tsx'
import { Section } from '../section.tsx'

type NoticesProps = { publisherId: number; email: string | null; mayChange: boolean }

/** Where a publisher's notices go. */
export function Notices({ publisherId, email, mayChange }: NoticesProps) {
  const form = useForm({ initialValues: { email: email ?? '' } })
  const save = useChange((body: { email: string | null }) => patch(`/publishers/${publisherId}`, body), {
    refresh: ['/publishers'],
    done: 'Saved.',
    onError: () => {},
  })
  const { formProps, isSending, error } = useSubmit(
    form,
    async (values) => {
      await save.mutateAsync({ email: values.email.trim() === '' ? null : values.email.trim() })
    },
    { follows: { email: email ?? '' } },
  )
  return (
    <Section
      title="Notices"
      about="Where the publisher is notified of problems, such as paused postbacks. Without an address, no mail is sent."
    >
      {mayChange ? (
        <form {...formProps}>
          <FormError error={error} />
          <Group align="flex-end">
            <TextInput
              label="Email address for notices"
              type="email"
              flex={1}
              miw={220}
              maw={360}
              {...form.getInputProps('email')}
            />
            <Button type="submit" variant="default" loading={isSending}>
              Save
            </Button>
          </Group>
        </form>
      ) : (
        <Text size="sm">{email ?? 'No address.'}</Text>
      )}
    </Section>
  )
}
