// The settings of an app’s postbacks, with a preview of the result.
import {
  Button,
  Checkbox,
  Fieldset,
  Group,
  Radio,
  SegmentedControl,
  Select,
  Stack,
  TagsInput,
  Text,
  TextInput,
  Input,
} from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDebouncedValue } from '@mantine/hooks'
import { modals } from '@mantine/modals'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { readAmount } from '../../lib/amounts.ts'
import { type ApiError, post, put, remove } from '../../lib/api.ts'
import { mayWrite, useMe } from '../../lib/me.ts'
import { queryClient, useChange } from '../../lib/queries.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import type { BodyOf } from '../../lib/operations.ts'
import { FormError } from '../form-error.tsx'
import { Section } from '../section.tsx'
import { DialectInput } from './dialect-input.tsx'
import { checkHeaders, HeadersInput } from './headers-input.tsx'
import { Lint, Preview, type PreviewData } from './preview.tsx'
import {
  bodyOf,
  dialectOf,
  EMPTY,
  OWN,
  type SettingsData,
  type Values,
  valuesOf,
  valuesOfPreset,
} from './settings-values.ts'
import { TemplateInput } from './template-input.tsx'

const DEBOUNCE_MS = 300
const EVENTS = [
  { value: 'pending', label: 'pending', description: 'reported, awaiting confirmation' },
  { value: 'approved', label: 'approved', description: 'credit the user' },
  { value: 'rejected', label: 'rejected', description: 'do not credit the user' },
  { value: 'reversed', label: 'reversed', description: 'take back the credit' },
]

export function SettingsForm({ base, data }: { base: `/apps/${string}`; data: SettingsData }) {
  const me = useMe()
  const form = useForm<Values>({
    initialValues: valuesOf(data),
    validate: { timeout_s: checkTimeout, headers: checkHeaders },
  })
  const { values } = form
  const [status, setStatus] = useState('approved')
  const preview = usePreview(base, values, status, data, mayWrite(me))
  const save = useChange((body: BodyOf<'PUT /apps/{app_id}/postback'>) => put(`${base}/postback`, body), {
    refresh: [`${base}/postback`],
    done: 'Saved.',
    onError: () => void queryClient.invalidateQueries({ queryKey: [`${base}/postback`] }), // changed meanwhile: shown
  })
  const { formProps, isSending, error } = useSubmit(
    form,
    async (sent) => {
      return valuesOf(await save.mutateAsync({ ...bodyOf(sent), seen_version: data.version }))
    },
    { follows: valuesOf(data) },
  )
  return (
    <form {...formProps}>
      <Fieldset variant="unstyled" disabled={!mayWrite(me)}>
        <Stack gap="lg">
          <Section title="Endpoint">
            <FormError error={error} />
            <PresetInput
              data={data}
              onChoose={(preset) => form.setValues(preset === undefined ? OWN : valuesOfPreset(preset, values.url))}
            />
            <Input.Wrapper
              label="Method"
              labelElement="div"
              description="GET sends everything in the URL. POST sends JSON, or a form if the dialect says so."
            >
              <div>
                <SegmentedControl aria-label="Method" mt={4} data={['GET', 'POST']} {...form.getInputProps('method')} />
              </div>
            </Input.Wrapper>
            <TemplateInput
              path="url"
              label="Postback URL"
              description="Your server’s endpoint for postbacks. Type { to insert a macro."
              placeholder="https://example.com/postback?user={user_id}&id={transaction_id}&reward={reward}&status={status}&test={is_test}"
              macros={data.macros}
              value={values.url}
              onChange={(url) => form.setFieldValue('url', url)}
              error={form.errors['url']}
            />
            <DialectInput form={form} data={data} />
            {preview !== undefined && values.url !== '' && (
              <>
                <Lint preview={preview} />
                <Preview
                  preview={preview}
                  {...(mayWrite(me) ? { event: { value: status, onChange: setStatus } } : {})}
                />
              </>
            )}
          </Section>
          <Section title="Delivery">
            <Checkbox.Group label="Events to send" {...form.getInputProps('events')}>
              <Stack gap="xs" mt="xs">
                {EVENTS.map((event) => (
                  <Checkbox key={event.value} {...event} />
                ))}
              </Stack>
            </Checkbox.Group>
            <Radio.Group label="Count as delivered when" {...form.getInputProps('success')}>
              <Stack gap="xs" mt="xs">
                <Radio value="2xx" label="your server answers with any 2xx status" />
                <Radio value="body" label="your server answers with a 2xx status and an expected body" />
              </Stack>
            </Radio.Group>
            {values.success === 'body' && (
              <TagsInput
                label="Expected answers"
                description="What the body must begin with. Include the answer to a repeated postback, such as DUP. Press Enter after each."
                acceptValueOnBlur
                maxTags={10}
                {...form.getInputProps('dialect.answers')}
              />
            )}
            <TextInput
              label="Response timeout (seconds)"
              description="From 1 to 15."
              inputMode="decimal"
              autoComplete="off"
              required
              w={260}
              {...form.getInputProps('timeout_s')}
            />
            <Checkbox
              label="Send reversed amounts as negative"
              {...form.getInputProps('negative_reversals', { type: 'checkbox' })}
            />
            <HeadersInput
              value={values.headers}
              onChange={(headers) => form.setFieldValue('headers', headers)}
              error={form.errors['headers']}
            />
          </Section>
          {mayWrite(me) && (
            <Group>
              <Button type="submit" loading={isSending} disabled={(preview?.errors.length ?? 0) > 0}>
                Save
              </Button>
              {data.settings !== null && <RemoveButton base={base} onRemoved={() => form.setValues(EMPTY)} />}
              {form.isDirty() && data.settings !== null && (
                <Text size="sm" c="dimmed">
                  Unsaved changes
                </Text>
              )}
            </Group>
          )}
        </Stack>
      </Fieldset>
    </form>
  )
}

type PresetInputProps = { data: SettingsData; onChoose: (preset?: SettingsData['presets'][number]) => void }

/** Fills the form, and is not part of it. */
function PresetInput({ data: { presets }, onChoose }: PresetInputProps) {
  const [chosen, setChosen] = useState<string | null>(null)
  return (
    <Select
      label="Receiver"
      description={
        presets.find(({ preset }) => preset === chosen)?.about ??
        'If your server was written for another network, choose its style: the settings below are filled in.'
      }
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      placeholder="Choose a style"
      maw="32rem"
      allowDeselect={false}
      data={[
        ...presets.map(({ preset, title }) => ({ value: preset, label: title })),
        { value: 'own', label: 'Written for Offerdeck' },
      ]}
      value={chosen}
      onChange={(name) => {
        setChosen(name)
        onChoose(presets.find((one) => one.preset === name))
      }}
    />
  )
}

/** What the server says of the form as it is; of what is saved, for those who may only look. */
function usePreview(base: `/apps/${string}`, values: Values, status: string, data: SettingsData, mayAsk: boolean) {
  const { url, method, events, headers, negative_reversals } = values
  const dialect = dialectOf(values.dialect)
  const names = headers.map(({ name }) => name.trim()).filter((name) => name !== '')
  const [body] = useDebouncedValue(
    JSON.stringify({ url, method, events, headers: names, negative_reversals, dialect, status }),
    DEBOUNCE_MS,
  )
  const asked = useQuery<PreviewData, ApiError>({
    queryKey: [`${base}/postback/preview`, body],
    queryFn: () => post(`${base}/postback/preview`, JSON.parse(body)),
    enabled: mayAsk && url !== '',
    placeholderData: (before) => before,
  })
  return mayAsk ? asked.data : (data.preview ?? undefined)
}

function RemoveButton({ base, onRemoved }: { base: `/apps/${string}`; onRemoved: () => void }) {
  const removal = useChange(() => remove(`${base}/postback`), {
    refresh: [`${base}/postback`],
    done: 'Postback URL removed.',
    onDone: onRemoved,
  })
  const ask = () =>
    modals.openConfirmModal({
      title: 'Remove the postback URL?',
      children: (
        <Text size="sm">
          Your server will no longer be notified of conversions. Queued postbacks are kept, and sent once you set a URL
          again.
        </Text>
      ),
      labels: { confirm: 'Remove', cancel: 'Cancel' },
      confirmProps: { color: 'red' },
      onConfirm: () => removal.mutate(undefined),
    })
  return (
    <Button variant="default" onClick={ask} loading={removal.isPending}>
      Remove URL
    </Button>
  )
}

function checkTimeout(text: string): string | null {
  const seconds = readAmount(text)
  return seconds === null || seconds < 1 || seconds > 15 ? 'Enter a number of seconds from 1 to 15.' : null
}
