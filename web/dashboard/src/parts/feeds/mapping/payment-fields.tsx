// What an offer pays, for what, and how often.
import { Button, Checkbox, Group, Select, Stack, Switch, Text } from '@mantine/core'
import { ConditionField, Entries, PlainText } from './condition-field.tsx'
import { useMappingForm } from './form-context.tsx'
import { FieldValues, PathInput } from './path-input.tsx'
import { SourceField } from './source-field.tsx'
import { getAt, isJson, type Place, placeText } from './sources.ts'

const PAYOUT = ['take', 'cents'] as const

export function PaymentFields({ offers }: { offers: string }) {
  const lists = [offers]
  return (
    <>
      <SourceField place={['payout']} label="Payout" about="What the network pays for the whole offer, in money, not in coins." lists={lists} options={PAYOUT} />
      <SourceField place={['currency']} label="Currency" about="Such as USD. Leave empty if the network sends none." lists={lists} options={['default']} />
      <GoalFields offers={offers} />
      <Stack gap={4}>
        <Text size="sm" fw={500}>
          Percentage payouts
        </Text>
        <Text size="xs" c="dimmed">
          How to recognize payouts that are not a fixed amount. Such offers are skipped.
        </Text>
        <Entries place={['not_fixed']} noun="condition" entry={{ path: '', is: [] }}>
          {(place, i) => <ConditionField place={place} label={`Percentage condition ${i + 1}`} lists={lists} />}
        </Entries>
        <FieldValues place={['not_fixed']} label="Percentage payouts" />
      </Stack>
    </>
  )
} // prettier-ignore

function GoalFields({ offers }: { offers: string }) {
  const { mapping, change, disabled } = useMappingForm()
  const goals = mapping['goals']
  const list = isJson(goals) && typeof goals['list'] === 'string' ? goals['list'] : ''
  const join = isJson(goals) && isJson(goals['join']) ? goals['join'] : null
  const base = isJson(goals) ? goals['base'] : undefined
  const within = [offers, list]
  const amounts = join === null ? within : [offers, String(join['list'] ?? '')]
  return (
    <Stack gap="sm">
      <Switch label="Offers have goals that pay" disabled={disabled} checked={goals !== undefined} onChange={(event) => change(['goals'], event.currentTarget.checked ? {} : undefined)} />
      {goals !== undefined && (
        <Stack gap="sm" className="mapping-entry">
          <OnePath place={['goals', 'list']} label="List of goals" isList lists={[offers]} isRequired />
          <FieldValues place={['goals']} label="Goals" />
          <SourceField place={['goals', 'id']} label="Goal ID" about="Identifies the goal in callbacks." lists={within} />
          <SourceField place={['goals', 'name']} label="Goal name" lists={within} isRequired options={['html', 'default']} />
          <SourceField place={['goals', 'description']} label="Goal description" lists={within} options={['html', 'join']} />
          <SourceField place={['goals', 'payout']} label="Goal payout" lists={amounts} isRequired options={PAYOUT} hidesValues />
          <SourceField place={['goals', 'currency']} label="Goal currency" about="Leave empty to use the currency of the offer." lists={amounts} options={['default']} />
          <ConditionField place={['goals', 'optional']} label="Optional goals" about="Leave empty if all are required." lists={within} />
          <Clear place={['goals', 'optional']} label="All goals are required" />
          <Checkbox label="Callbacks do not say which goal was reached" description="Offers with several goals are then skipped." disabled={disabled} checked={isJson(goals) && goals['only_one'] === true} onChange={(event) => change(['goals', 'only_one'], event.currentTarget.checked || undefined)} />
          <Switch label="The offer itself also pays, before its goals" disabled={disabled} checked={base !== undefined} onChange={(event) => change(['goals', 'base'], event.currentTarget.checked ? { name: 'Complete' } : undefined)} />
          {base !== undefined && (
            <Stack gap="sm" pl="sm">
              <PlainText place={['goals', 'base', 'name']} label="Name for the offer’s own payout" />
              <SourceField place={['goals', 'base', 'payout']} label="Payout of the offer itself" lists={[offers]} isRequired options={PAYOUT} hidesValues />
            </Stack>
          )}
          <Switch label="Goal payouts are in another list" disabled={disabled} checked={join !== null} onChange={(event) => change(['goals', 'join'], event.currentTarget.checked ? {} : undefined)} />
          {join !== null && (
            <Stack gap="sm" pl="sm">
              <OnePath place={['goals', 'join', 'list']} label="List of payouts" isList lists={[offers]} isRequired />
              <OnePath place={['goals', 'join', 'goal']} label="Matching key in the list of goals" lists={within} isRequired />
              <OnePath place={['goals', 'join', 'is']} label="Matching key in the list of payouts" lists={amounts} isRequired />
            </Stack>
          )}
        </Stack>
      )}
    </Stack>
  )
} // prettier-ignore

type OnePathProps = { place: Place; label: string; lists: readonly string[]; isList?: boolean; isRequired?: boolean; about?: string } // prettier-ignore

/** A path alone, with nothing else to say about it. */
export function OnePath({ place, ...rest }: OnePathProps) {
  const { mapping, change, problemOf } = useMappingForm()
  return (
    <PathInput {...rest} id={placeText(place)} value={String(getAt(mapping, place) ?? '')} error={problemOf(place)} onChange={(path) => change(place, path === '' ? undefined : path)} />
  )
} // prettier-ignore

/** Takes away a part that may be missing. */
export function Clear({ place, label }: { place: Place; label: string }) {
  const { mapping, change, disabled } = useMappingForm()
  const value = getAt(mapping, place)
  if (value === undefined || disabled) return null
  return (
    <Button variant="subtle" color="red" size="compact-xs" style={{ alignSelf: 'flex-start' }} onClick={() => change(place, undefined)}>
      {label}
    </Button>
  )
} // prettier-ignore

const PERIODS = [
  { value: 'day', label: 'per day' },
  { value: 'total', label: 'in total' },
]
const COUNTED = [
  { value: 'conversions', label: 'conversions' },
  { value: 'clicks', label: 'clicks' },
  { value: 'revenue', label: 'revenue' },
  { value: 'payout', label: 'payout' },
]

export function CapFields({ offers }: { offers: string }) {
  const { mapping, change, disabled } = useMappingForm()
  const lists = [offers]
  const choice = (place: Place, label: string, data: typeof PERIODS) => (
    <Select aria-label={label} size="xs" w={190} allowDeselect={false} disabled={disabled} data={data} value={String(getAt(mapping, place) ?? '')} onChange={(value) => change(place, value ?? undefined)} />
  )
  return (
    <Stack gap={4}>
      <Entries place={['caps']} noun="cap" entry={{ value: '', period: 'day', of: 'conversions' }}>
        {(place, i) => (
          <>
            <OnePath place={[...place, 'value']} label={`Cap ${i + 1}`} lists={lists} isRequired />
            <Group gap="xs">
              {choice([...place, 'of'], `What cap ${i + 1} counts`, COUNTED)}
              {choice([...place, 'period'], `Period of cap ${i + 1}`, PERIODS)}
            </Group>
            {['revenue', 'payout'].includes(String(getAt(mapping, [...place, 'of']))) && (
              <SourceField place={[...place, 'currency']} label={`Currency of cap ${i + 1}`} about="Leave empty to use the currency of the offer." lists={lists} options={['default']} hidesValues />
            )}
            <Entries place={[...place, 'where']} noun="condition" entry={{ path: '', empty: false }}>
              {(where, at) => <ConditionField place={where} label={`Cap ${i + 1}, condition ${at + 1}`} lists={lists} />}
            </Entries>
          </>
        )}
      </Entries>
      <FieldValues place={['caps']} label="Caps" />
    </Stack>
  )
} // prettier-ignore
