// How an advertiser signs its callbacks.
import { Button, PasswordInput, Select, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { put } from '../../lib/api.ts'
import { useChange } from '../../lib/queries.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { choicesOf, SIGNATURE_ALGORITHMS, SIGNATURE_ENCODINGS } from '../../lib/words.ts'
import { confirm } from '../confirm.tsx'
import { Section } from '../section.tsx'
import { SubmitForm } from '../submit-form.tsx'
import type { AdvertiserData } from './token.tsx'

/** How its callbacks are signed, if they are. */
export function SignatureSection({ advertiser, mayChange }: { advertiser: AdvertiserData; mayChange: boolean }) {
  const { signature } = advertiser
  const path = `/advertisers/${advertiser.advertiser_id}/signature` as const
  const form = useForm({
    initialValues: {
      signature: { algorithm: signature?.algorithm ?? 'hmac-sha256', of: signature?.of ?? '{sorted_query}', encoding: signature?.encoding ?? 'hex', parameter: signature?.parameter ?? '', header: signature?.header ?? '' },
      secret: '',
    },
  }) // prettier-ignore
  const options = { refresh: ['/advertisers'], onError: () => {} }
  const save = useChange(({ signature: given, secret }: typeof form.values) => put(path, { signature: { ...given, parameter: given.parameter.trim() || null, header: given.header.trim() || null }, secret }), { ...options, done: 'Saved. Callbacks without this signature are refused.' }) // prettier-ignore
  const stop = useChange(() => put(path, { signature: null }), { refresh: ['/advertisers'], done: 'Signatures are no longer checked.' }) // prettier-ignore
  const submit = useSubmit(form, async (values) => {
    await save.mutateAsync(values)
    return { ...values, secret: '' }
  })
  const askAndStop = async () => {
    if (await confirm({ title: 'Stop checking signatures?', text: 'Anyone who has the token could then confirm conversions.', action: 'Stop' })) stop.mutate(undefined) // prettier-ignore
  }
  return (
    <Section
      title="Signature"
      about={signature === null ? 'Signatures of callbacks are not checked: the token alone protects them.' : 'Callbacks without the right signature are refused.'} // prettier-ignore
    >
      <SubmitForm submit={submit} action="Save" mayChange={mayChange} button={{ style: { alignSelf: 'flex-start' } }}>
        <Select label="Algorithm" data={choicesOf(SIGNATURE_ALGORITHMS)} allowDeselect={false} maw={420} disabled={!mayChange} {...form.getInputProps('signature.algorithm')} />
        <TextInput
          label="Signed text"
          description="Use {secret}, {url}, {sorted_query} and parameters such as {click_id}, in any order."
          required
          disabled={!mayChange}
          {...form.getInputProps('signature.of')}
        />
        <Select label="Encoding" data={choicesOf(SIGNATURE_ENCODINGS)} allowDeselect={false} maw={420} disabled={!mayChange} {...form.getInputProps('signature.encoding')} />
        <TextInput label="Signature parameter" maw={420} disabled={!mayChange} {...form.getInputProps('signature.parameter')} />
        <TextInput label="Signature header" maw={420} disabled={!mayChange} {...form.getInputProps('signature.header')} />
        <PasswordInput label="Secret" description="Stored encrypted, and never shown again." required maw={420} autoComplete="off" disabled={!mayChange} {...form.getInputProps('secret')} />
      </SubmitForm>
      {signature !== null && mayChange && (
        <Button variant="default" style={{ alignSelf: 'flex-start' }} loading={stop.isPending} onClick={() => void askAndStop()}>
          Stop checking signatures
        </Button>
      )}
    </Section>
  ) // prettier-ignore
}
