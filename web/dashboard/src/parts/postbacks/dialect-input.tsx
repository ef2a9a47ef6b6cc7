// The dialect of an app’s receiver: how it expects values, and how it checks signatures.
import { Accordion, PasswordInput, Select, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useState } from 'react'
import { type DialectValues, isPlain, type SettingsData, type Values } from './settings-values.ts'
import { TemplateInput } from './template-input.tsx'
import { choicesOf, SIGNATURE_ALGORITHMS, SIGNATURE_ENCODINGS } from '../../lib/words.ts'

const STATUSES = ['approved', 'reversed', 'pending', 'rejected'] as const
const decimalsUpTo = (most: number) => [
  { value: 'any', label: 'As many decimals as needed' },
  ...Array.from({ length: most + 1 }, (_, count) => ({
    value: String(count),
    label: count === 0 ? 'Whole units' : count === 1 ? '1 decimal' : `${count} decimals`,
  })),
]
const TIMES = [
  { value: 'unix', label: '1794729385 (Unix seconds)' },
  { value: 'unix_ms', label: '1794729385000 (milliseconds)' },
  { value: 'iso', label: '2026-11-15T07:56:25Z' },
  { value: 'sql', label: '2026-11-15 07:56:25 (UTC)' },
]
const TRANSACTION_IDS = [
  { value: 'event', label: 'A new ID for each event' },
  { value: 'conversion', label: 'The conversion’s ID: a reversal repeats it' },
]
const IDS = [
  { value: 'uuid', label: 'UUIDs' },
  { value: 'number', label: 'Numbers' },
]
const POST_BODIES = [
  { value: 'json', label: 'Offerdeck’s JSON' },
  { value: 'form', label: 'A form with the parameters of the URL' },
]
const ALGORITHMS = [{ value: 'none', label: 'Offerdeck’s own' }, ...choicesOf(SIGNATURE_ALGORITHMS)]

type DialectInputProps = { form: UseFormReturnType<Values>; data: SettingsData }

export function DialectInput({ form, data }: DialectInputProps) {
  const { dialect } = form.values
  const [isOpen, setOpen] = useState<boolean | null>(null)
  const isWrong = Object.keys(form.errors).some((path) => path.startsWith('dialect.') || path === 'receiver_secret')
  return (
    <Accordion
      variant="contained"
      order={3}
      value={(isOpen ?? !isPlain(dialect)) || isWrong ? 'dialect' : null}
      onChange={(value) => setOpen(value !== null)}
    >
      <Accordion.Item value="dialect">
        <Accordion.Control>Dialect</Accordion.Control>
        <Accordion.Panel>
          <Stack>
            <Text size="sm" c="dimmed" maw="42rem">
              How your server expects values and signatures. Change it only if your server was written for another
              network.
            </Text>
            <FormatInputs form={form} />
            <SignatureInputs form={form} data={data} dialect={dialect} />
          </Stack>
        </Accordion.Panel>
      </Accordion.Item>
    </Accordion>
  )
}

function FormatInputs({ form }: { form: UseFormReturnType<Values> }) {
  const choice = { allowDeselect: false, comboboxProps: { width: 'max-content', position: 'bottom-start' } } as const
  return (
    <>
      <SimpleGrid cols={{ base: 2, sm: 4 }} role="group" aria-label="Words for each status">
        {STATUSES.map((status) => (
          <TextInput
            key={status}
            label={`Word for ${status}`}
            placeholder={status}
            maxLength={40}
            autoComplete="off"
            {...form.getInputProps(`dialect.statuses.${status}`)}
          />
        ))}
      </SimpleGrid>
      <Text size="sm" c="dimmed">
        If you set any words, only statuses with a word are sent.
      </Text>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <Select
          label="Amounts in {reward}"
          data={decimalsUpTo(4)}
          {...choice}
          {...form.getInputProps('dialect.reward_decimals')}
        />
        <Select
          label="Amounts in {payout}"
          data={decimalsUpTo(6)}
          {...choice}
          {...form.getInputProps('dialect.payout_decimals')}
        />
        <Select label="Times in {timestamp}" data={TIMES} {...choice} {...form.getInputProps('dialect.times')} />
        <Select
          label="IDs in {transaction_id}"
          data={TRANSACTION_IDS}
          {...choice}
          {...form.getInputProps('dialect.transaction_id')}
        />
        <Select label="Format of IDs" data={IDS} {...choice} {...form.getInputProps('dialect.ids')} />
        {form.values.method === 'POST' && (
          <Select
            label="Body of the POST"
            data={POST_BODIES}
            {...choice}
            {...form.getInputProps('dialect.post_body')}
          />
        )}
      </SimpleGrid>
      <Text size="sm" c="dimmed">
        Change IDs only while nothing is queued: a retry under another ID looks like a new postback.
      </Text>
    </>
  )
}

function SignatureInputs({ form, data, dialect }: DialectInputProps & { dialect: DialectValues }) {
  const { algorithm } = dialect.signature
  const macros = [
    ...data.recipe_macros.map((macro) => ({ ...macro, example: '' })),
    ...data.macros.filter(({ name }) => name !== 'signature'),
  ]
  return (
    <>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <Select
          label="Signature"
          data={ALGORITHMS}
          allowDeselect={false}
          {...form.getInputProps('dialect.signature.algorithm')}
        />
        {algorithm !== 'none' && (
          <Select
            label="Encoding"
            data={choicesOf(SIGNATURE_ENCODINGS)}
            allowDeselect={false}
            {...form.getInputProps('dialect.signature.encoding')}
          />
        )}
      </SimpleGrid>
      {algorithm !== 'none' && (
        <>
          <TemplateInput
            path="dialect.signature.of"
            label="Signed text"
            description={
              algorithm.startsWith('hmac-')
                ? 'Macros and constants in the order in which your server joins them. The secret is the key.'
                : 'Macros, constants and {secret} in the order in which your server joins them.'
            }
            placeholder="{user_id}{transaction_id}{reward}{secret}"
            macros={macros}
            value={dialect.signature.of}
            onChange={(text) => form.setFieldValue('dialect.signature.of', text)}
            error={form.errors['dialect.signature.of']}
          />
          <SimpleGrid cols={{ base: 1, sm: 2 }}>
            <PasswordInput
              label="Receiver’s secret"
              description="Stored encrypted and never shown again."
              placeholder={data.settings?.has_receiver_secret === true ? 'unchanged' : ''}
              autoComplete="new-password"
              maxLength={200}
              {...form.getInputProps('receiver_secret')}
            />
            <TextInput
              label="Header"
              description="Leave empty to send the signature where {signature} is in the URL."
              placeholder="X-Signature"
              maxLength={100}
              autoComplete="off"
              {...form.getInputProps('dialect.signature.header')}
            />
          </SimpleGrid>
        </>
      )}
    </>
  )
}
