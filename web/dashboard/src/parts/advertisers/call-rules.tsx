// What callbacks mean beyond their status and amount: set by an operator, or come with the preset of a feed.
import { Checkbox, Code, Group, List, Text, TextInput } from '@mantine/core'
import type { Schemas } from '../../lib/api-types.ts'
import { Section } from '../section.tsx'
import { Add, PartForm, Remove, type SectionProps, usePart } from './part-form.tsx'

type Rules = Schemas['CallbackRules']

const ONLY_GOAL = 'Applies if the offer has one goal and the callback pays at least as much as that goal earns. Otherwise the callback is invalid.' // prettier-ignore

/** In plain words, to read only. */
export function RuleList({ rules }: { rules: Rules }) {
  if (rules.ignored.length === 0 && !rules.only_goal) return <Text size="sm">No rules: callbacks are read by their status and amount.</Text>
  return (
    <List size="sm" spacing="xs" aria-label="Callback rules">
      {rules.ignored.map(({ parameter, is, reason, preset }) => (
        <List.Item key={`${parameter}=${is}`}>
          If <Code>{parameter}</Code> is <Code>{is}</Code>, the callback is ignored: {reason} {from(preset)}
        </List.Item>
      ))}
      {rules.only_goal && (
        <List.Item>
          If a callback names an unknown goal and the offer has only one goal, the callback counts for that goal, provided it pays at least as much as the goal earns. Otherwise the callback is invalid. {from(rules.only_goal_preset)}
        </List.Item>
      )}
    </List>
  )
} // prettier-ignore

const from = (preset: string | null) => (preset === null ? null : <Text span size="sm" c="dimmed">Set by {preset}.</Text>) // prettier-ignore

export function CallRulesSection({ advertiser, mayChange }: SectionProps) {
  const part = usePart(advertiser, 'call_rules')
  const { value, setValue } = part
  const ofPresets = value.ignored.filter(({ preset }) => preset !== null)
  const own = value.ignored.filter(({ preset }) => preset === null)
  const setOwn = (rules: Rules['ignored']) => setValue({ ...value, ignored: [...ofPresets, ...rules] })
  const change = (place: number, changed: Partial<Rules['ignored'][number]>) => setOwn(own.map((rule, i) => (i === place ? { ...rule, ...changed } : rule))) // prettier-ignore
  return (
    <Section
      title="Callback rules"
      about="Ignored callbacks get a success response and stay in the log, but change nothing."
    >
      <PartForm
        part={part}
        mayChange={mayChange}
        more={<Add label="Add rule" onClick={() => setOwn([...own, { parameter: '', is: '', reason: '', preset: null }])} />}
      >
        {ofPresets.length > 0 && <RuleList rules={{ ignored: ofPresets, only_goal: false, only_goal_preset: null }} />}
        {value.ignored.length === 0 && <Text size="sm">No callbacks are ignored.</Text>}
        {own.map((rule, i) => (
          <Group key={i} align="flex-end" gap="xs">
            <TextInput label="If the parameter" required flex="1 1 8rem" maxLength={100} disabled={!mayChange} value={rule.parameter} onChange={(event) => change(i, { parameter: event.currentTarget.value })} />
            <TextInput label="is" required flex="1 1 8rem" maxLength={100} disabled={!mayChange} value={rule.is} onChange={(event) => change(i, { is: event.currentTarget.value })} />
            <TextInput label="ignore the callback because" required flex="2 1 14rem" maxLength={200} disabled={!mayChange} value={rule.reason} onChange={(event) => change(i, { reason: event.currentTarget.value })} />
            {mayChange && <Remove label={`Remove rule ${rule.parameter}`} onClick={() => setOwn(own.toSpliced(i, 1))} />}
          </Group>
        ))}
        <Checkbox
          label="Count unknown goals as the offer’s only goal"
          description={value.only_goal_preset === null ? ONLY_GOAL : `${ONLY_GOAL} Set by ${value.only_goal_preset}.`}
          disabled={!mayChange || value.only_goal_preset !== null}
          checked={value.only_goal}
          onChange={(event) => setValue({ ...value, only_goal: event.currentTarget.checked })}
        />
      </PartForm>
    </Section>
  )
} // prettier-ignore
