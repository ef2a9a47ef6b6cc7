// Where an advertiser may call from, and the words it uses. Each part is saved by itself.
import { Group, Select, TagsInput, Text, TextInput } from '@mantine/core'
import { Section } from '../section.tsx'
import { Add, PartForm, Remove, type SectionProps, type Settings, usePart } from './part-form.tsx'

const STATUSES = ['approved', 'pending', 'rejected', 'reversed'] as const
type Parameter = Settings['aliases'][number]['parameter']
/** Keyed: one that the API gets cannot be missing here. */
const PARAMETERS = Object.keys({
  click_id: true,
  goal: true,
  txn_id: true,
  amount: true,
  currency: true,
  status: true,
  ip: true,
  country: true,
  external_offer_id: true,
} satisfies Record<Parameter, true>) as Parameter[]

export function AddressSection({ advertiser, mayChange }: SectionProps) {
  const part = usePart(advertiser, 'allowed_ips')
  return (
    <Section
      title="IP allowlist"
      about="Leave empty to accept callbacks from any IP address. Otherwise callbacks from other addresses are refused, even with a valid token."
    >
      <PartForm part={part} mayChange={mayChange}>
        <TagsInput
          label="IP addresses and ranges"
          description="Such as 192.0.2.7 or 192.0.2.0/24. Press Enter after each."
          placeholder={part.value.length === 0 ? 'anywhere' : ''}
          splitChars={[',', ' ', ';']}
          acceptValueOnBlur
          disabled={!mayChange}
          value={part.value}
          onChange={part.setValue}
        />
      </PartForm>
    </Section>
  )
}

const NEGATIVE_AMOUNTS = [
  { value: 'refuse', label: 'Error: the callback needs attention' },
  { value: 'reversal', label: 'Reversal' },
  { value: 'ignore', label: 'Ignore the sign and the amount' },
]
const DECIMAL_MARKS = [
  { value: 'detect', label: 'Detect (1,234 is not accepted)' },
  { value: 'point', label: 'Point: 1,234.56' },
  { value: 'comma', label: 'Comma: 1.234,56' },
]

export function AmountSection({ advertiser, mayChange }: SectionProps) {
  const negative = usePart(advertiser, 'negative_amount')
  const prefix = usePart(advertiser, 'reversal_prefix')
  const mark = usePart(advertiser, 'decimal_mark')
  return (
    <Section
      title="Amounts and reversals"
      about="Amounts are used for goals that pay a percentage. Currency signs, thousands separators and extra decimals are understood."
    >
      <PartForm part={negative} mayChange={mayChange}>
        <Select
          label="A negative amount without a reversal status means"
          data={NEGATIVE_AMOUNTS}
          allowDeselect={false}
          disabled={!mayChange}
          value={negative.value}
          onChange={(value) => negative.setValue((value ?? 'refuse') as typeof negative.value)}
        />
      </PartForm>
      <PartForm part={mark} mayChange={mayChange}>
        <Select
          label="Decimal separator"
          data={DECIMAL_MARKS}
          allowDeselect={false}
          disabled={!mayChange}
          value={mark.value}
          onChange={(value) => mark.setValue((value ?? 'detect') as typeof mark.value)}
        />
      </PartForm>
      <PartForm part={prefix} mayChange={mayChange}>
        <TextInput
          label="Transaction ID prefix of reversals"
          description="Such as r-, where r-17 reverses 17. Leave empty if reversals have no prefix."
          maxLength={20}
          disabled={!mayChange}
          value={prefix.value}
          onChange={(event) => prefix.setValue(event.currentTarget.value)}
        />
      </PartForm>
    </Section>
  )
}

export function StatusSection({ advertiser, mayChange }: SectionProps) {
  const part = usePart(advertiser, 'status_map')
  const { value, setValue } = part
  const change = (place: number, changed: Partial<(typeof value)[number]>) =>
    setValue(value.map((pair, i) => (i === place ? { ...pair, ...changed } : pair)))
  return (
    <Section
      title="Status mappings"
      about="Common values (paid, declined, chargeback, 1, 0 …) are recognized automatically."
    >
      <PartForm
        part={part}
        mayChange={mayChange}
        more={<Add label="Add status" onClick={() => setValue([...value, { theirs: '', status: 'approved' }])} />}
      >
        {value.length === 0 && <Text size="sm">No mappings yet.</Text>}
        {value.map((pair, i) => (
          <Group key={i} align="flex-end" gap="xs" wrap="nowrap">
            <TextInput
              label="Advertiser’s value"
              required
              flex={1}
              disabled={!mayChange}
              value={pair.theirs}
              onChange={(event) => change(i, { theirs: event.currentTarget.value })}
            />
            <Select
              label="means"
              flex={1}
              allowDeselect={false}
              data={[...STATUSES]}
              disabled={!mayChange}
              value={pair.status}
              onChange={(status) => status !== null && change(i, { status })}
            />
            {mayChange && (
              <Remove label={`Remove mapping ${pair.theirs}`} onClick={() => setValue(value.toSpliced(i, 1))} />
            )}
          </Group>
        ))}
      </PartForm>
    </Section>
  )
}

export function AliasSection({ advertiser, mayChange }: SectionProps) {
  const part = usePart(advertiser, 'aliases')
  const { value, setValue } = part
  const change = (place: number, changed: Partial<(typeof value)[number]>) =>
    setValue(value.map((pair, i) => (i === place ? { ...pair, ...changed } : pair)))
  return (
    <Section
      title="Parameter names"
      about="Our parameter names always work. Names mapped here are also used in the postback URLs."
    >
      <PartForm
        part={part}
        mayChange={mayChange}
        more={<Add label="Add parameter" onClick={() => setValue([...value, { parameter: 'click_id', theirs: '' }])} />}
      >
        {value.length === 0 && <Text size="sm">No mappings: the advertiser uses our names.</Text>}
        {value.map((pair, i) => (
          <Group key={i} align="flex-end" gap="xs" wrap="nowrap">
            <Select
              label="Our parameter"
              flex={1}
              allowDeselect={false}
              data={PARAMETERS}
              disabled={!mayChange}
              value={pair.parameter}
              onChange={(parameter) => parameter !== null && change(i, { parameter })}
            />
            <TextInput
              label="Advertiser’s name"
              required
              flex={1}
              disabled={!mayChange}
              value={pair.theirs}
              onChange={(event) => change(i, { theirs: event.currentTarget.value })}
            />
            {mayChange && (
              <Remove label={`Remove mapping ${pair.theirs}`} onClick={() => setValue(value.toSpliced(i, 1))} />
            )}
          </Group>
        ))}
      </PartForm>
    </Section>
  )
}
