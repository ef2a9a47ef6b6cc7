import { Button, PasswordInput, Select, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { IconCopy } from '@tabler/icons-react'
import { useState } from 'react'
import { Link } from 'wouter'
import type { Schemas } from '../../lib/api-types.ts'
import { post } from '../../lib/api.ts'
import { mayWrite, useMe } from '../../lib/me.ts'
import { useChange, useGet } from '../../lib/queries.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { AdvertiserSelect } from '../../parts/advertisers/advertiser-select.tsx'
import { CopyBlock } from '../../parts/copy.tsx'
import {
  checkCredentials,
  type CredentialRow,
  CredentialsInput,
  NEW_CREDENTIALS,
  valuesIn,
} from '../../parts/feeds/credentials.tsx'
import { MappingEditor, NOT_JSON, type Own, parseObject } from '../../parts/feeds/mapping-editor.tsx'
import { bodyOf, checkSettings, NEW_SETTINGS, type SettingsValues, ShareField } from '../../parts/feeds/settings.tsx'
import { Loaded, Page } from '../../parts/page.tsx'
import { Section } from '../../parts/section.tsx'
import { SubmitForm } from '../../parts/submit-form.tsx'

type Preset = Schemas['FeedPresetList']['presets'][number]

type Values = { preset: string; name: string; advertiser_id: string; credentials: Record<string, string>; postback_secret: string; settings: SettingsValues; named: CredentialRow[]; own: Own } // prettier-ignore

const OWN = 'own'
const EXAMPLE: Own = {
  request: JSON.stringify({ method: 'GET', url: 'https://api.example.com/offers', headers: { 'X-Api-Key': '{key}' }, paging: { kind: 'page', parameter: 'page', first: 1 } }, null, 2),
  mapping: JSON.stringify({ offers: 'data', id: 'id', name: 'name', description: { path: 'description', html: true }, countries: { include: 'countries[]' }, payout: 'payout', link: { path: 'url', set: { sub1: '{click_id}' } } }, null, 2),
} // prettier-ignore

export default function NewFeed() {
  const presets = useGet('/feed-presets')
  const [made, setMade] = useState<Schemas['CreatedFeed'] | null>(null)
  return (
    <Page title="Add feed" about="Offers from another network. A new feed is paused: check its preview, then start it.">
      {made === null ? (
        <Loaded query={presets}>{(data) => <Add presets={data.presets} onMade={setMade} />}</Loaded>
      ) : (
        <Made made={made} />
      )}
    </Page>
  )
}

function Add({ presets, onMade }: { presets: Preset[]; onMade: (made: Schemas['CreatedFeed']) => void }) {
  const mayChange = mayWrite(useMe())
  const [{ copy: copied = '' }] = useFilters()
  const form = useForm<Values>({
    initialValues: { preset: '', name: '', advertiser_id: '', credentials: {}, postback_secret: '', settings: NEW_SETTINGS, named: NEW_CREDENTIALS, own: EXAMPLE, ...copyOf(presets, copied, NEW_SETTINGS) }, // prettier-ignore
    validate: { settings: checkSettings },
  })
  const { preset: chosen, own, settings, named } = form.getValues()
  const preset = presets.find((one) => one.preset === chosen)
  const fields = preset?.credentials ?? []
  const create = useChange((body: Parameters<typeof post<'/feeds'>>[1]) => post('/feeds', body as never), { refresh: ['/feeds', '/advertisers'], onError: () => {} }) // prettier-ignore
  const submit = useSubmit(form, async (values) => {
    const wrong = preset === undefined ? checkCredentials(values.named) : null
    if (wrong !== null) {
      form.setErrors({ credentials: wrong })
      return false
    }
    const given = Object.fromEntries(fields.map(({ name }) => [name, values.credentials[name] ?? '']))
    const parsed = { request: parseObject(values.own.request), mapping: parseObject(values.own.mapping) }
    if (preset === undefined && (parsed.request === null || parsed.mapping === null)) {
      form.setErrors({ ...(parsed.request === null ? { request: NOT_JSON } : {}), ...(parsed.mapping === null ? { mapping: NOT_JSON } : {}) }) // prettier-ignore
      return false
    }
    const { currency: _currency, every: _every, ...rest } = bodyOf(values.settings)
    const made = await create.mutateAsync({
      name: values.name,
      ...(values.advertiser_id === '' ? {} : { advertiser_id: Number(values.advertiser_id) }),
      credentials: preset === undefined ? valuesIn(values.named) : given,
      ...(preset === undefined ? { request: parsed.request!, mapping: parsed.mapping! } : { preset: preset.preset }),
      ...(preset?.postback_secret && values.postback_secret !== '' ? { postback_secret: values.postback_secret } : {}),
      settings: preset === undefined ? bodyOf(values.settings) : rest,
    }) // prettier-ignore
    onMade(made)
    return undefined
  })
  return (
    <Section title="Network">
      <SubmitForm submit={submit} action="Add feed" button={{ disabled: !mayChange || chosen === '', style: { alignSelf: 'flex-start' } }}>
        <Select
          label="Network"
          placeholder="Choose one"
          required
          searchable
          maw={420}
          data={[...presets.map(({ preset: value, title }) => ({ value, label: title })), { value: OWN, label: 'Another network' }]}
          {...form.getInputProps('preset')}
          onChange={(value) => {
            const next = presets.find((one) => one.preset === value)
            form.setFieldValue('preset', value ?? '')
            if (form.getValues().name === '' || presets.some(({ title }) => title === form.getValues().name)) form.setFieldValue('name', next?.title ?? '') // prettier-ignore
          }}
        />
        {chosen !== '' && (
          <>
            <TextInput label="Name" required maw={420} {...form.getInputProps('name')} />
            {fields.map(({ name, label, hint, is_secret }) => {
              const Input = is_secret ? PasswordInput : TextInput
              return <Input key={name} label={label} description={hint} required maw={420} autoComplete="off" {...form.getInputProps(`credentials.${name}`)} /> // prettier-ignore
            })}
            {preset !== undefined && <CopyPreset preset={preset} onCopy={() => form.setValues(copyOf(presets, preset.preset, settings))} />}
            {chosen === OWN && <CredentialsInput value={named} error={form.errors['credentials']} onChange={(rows) => form.setFieldValue('named', rows)} />}
            {preset?.postback_secret && (
              <PasswordInput
                label={preset.postback_secret}
                description="Verifies the signatures of the network’s callbacks. Without it, only the token in the URL protects them."
                maw={420}
                autoComplete="off"
                {...form.getInputProps('postback_secret')}
              />
            )}
            <Stack maw={420}>
              <ShareField form={form} />
              <AdvertiserSelect
                label="Advertiser"
                description="Owns the offers of this feed. Leave empty to create one with the same name."
                clearable
                value={form.getValues().advertiser_id || null}
                onChange={(value) => form.setFieldValue('advertiser_id', value ?? '')}
              />
            </Stack>
            {chosen === OWN && (
              <MappingEditor own={own} onChange={(next) => form.setFieldValue('own', next)} settings={settings} credentials={valuesIn(named)} errors={form.errors} />
            )}
          </>
        )}
      </SubmitForm>
    </Section>
  ) // prettier-ignore
}

/** The same network, but with a request and a mapping that can be edited. */
function copyOf(presets: Preset[], name: string, settings: SettingsValues): Partial<Values> {
  const preset = presets.find((one) => one.preset === name)
  if (preset === undefined) return {}
  return {
    preset: OWN,
    name: preset.title,
    named: preset.credentials.map((one) => ({ name: one.name, value: '', isKept: false })),
    own: { request: JSON.stringify(preset.request, null, 2), mapping: JSON.stringify(preset.mapping, null, 2) },
    settings: { ...settings, currency: preset.currency, every: preset.every },
  }
}

function CopyPreset({ preset, onCopy }: { preset: Preset; onCopy: () => void }) {
  return (
    <Stack gap={4} align="flex-start">
      <Button variant="default" size="xs" leftSection={<IconCopy size={14} />} onClick={onCopy}>
        Copy to a custom feed
      </Button>
      <Text size="sm" c="dimmed">
        Shows how {preset.title} is requested and mapped, so that you can change it. A custom feed does not get later updates of the preset, and you set up its callbacks under the advertiser.
      </Text>
    </Stack>
  )
} // prettier-ignore

function Made({ made: { feed, token } }: { made: Schemas['CreatedFeed'] }) {
  const url = token === null ? feed.postback_url : feed.postback_url.replace(feed.token_place, token)
  return (
    <Section title={`${feed.name} was added`}>
      <Text size="sm">
        1. Paste this postback URL into the network’s system, so that it confirms conversions.{' '}
        {token === null ? `Put the token of ${feed.advertiser} in place of ${feed.token_place}.` : 'The URL has a new token: store it now, it won’t be shown again.'}
      </Text>
      <CopyBlock value={url} label="Copy the URL" />
      {feed.notes.map((note) => (
        <Text key={note} size="sm" c="dimmed">
          {note}
        </Text>
      ))}
      <Text size="sm">2. Check the preview, then start the feed.</Text>
      <Button component={Link} href={`/network/feeds/${feed.feed_id}`} style={{ alignSelf: 'flex-start' }}>
        Go to {feed.name}
      </Button>
    </Section>
  ) // prettier-ignore
}
