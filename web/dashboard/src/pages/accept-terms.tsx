import { Anchor, Button, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { Schemas } from '../lib/api-types.ts'
import { post, remove } from '../lib/api.ts'
import { useMe } from '../lib/me.ts'
import { queryClient } from '../lib/queries.ts'
import { useSubmit } from '../lib/use-submit.ts'
import { Door } from '../parts/door.tsx'
import { FormError } from '../parts/form-error.tsx'
import { AcceptServiceTerms } from '../parts/sign-up/service-terms.tsx'

/** For an owner of a publisher that accepted an earlier version. Its keys work meanwhile. */
export default function AcceptTerms() {
  const { terms, publisher } = useMe()
  return terms === null ? null : <Changed terms={terms} keysWork={publisher?.status === 'active'} />
}

function Changed({ terms, keysWork }: { terms: Schemas['ShownTerms']; keysWork: boolean }) {
  const form = useForm({ initialValues: { version: null as string | null } })
  const { formProps, isSending, error } = useSubmit(
    form,
    async ({ version: hash }) => {
      await post('/me/terms', { version: terms.version, hash: hash ?? '' }).finally(
        () => void queryClient.invalidateQueries({ queryKey: ['/me'] }), // they may have changed again
      )
    },
    { isQuestion: true },
  )
  const signOut = async () => {
    await remove('/session').catch(() => {})
    window.location.assign('/sign-in')
  }
  return (
    <Door
      title="The terms have changed"
      about={`Read and accept the new terms to continue.${keysWork ? ' Your keys keep working meanwhile.' : ''}`}
    >
      <form {...formProps}>
        <Stack>
          <FormError error={error} />
          <AcceptServiceTerms terms={terms} input={form.getInputProps('version')} />
          <Button type="submit" loading={isSending}>
            Continue
          </Button>
        </Stack>
      </form>
      <Anchor component="button" size="sm" ta="left" onClick={() => void signOut()}>
        Sign out
      </Anchor>
    </Door>
  )
}
