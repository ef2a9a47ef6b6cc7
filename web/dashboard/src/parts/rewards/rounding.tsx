// How rewards are rounded, and which are too small to be shown.
import { Group, Select, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { amountOf, checkPositive, readAmount } from '../../lib/amounts.ts'
import { formatReward } from '../../lib/format.ts'
import { choicesOf, ROUNDINGS } from '../../lib/words.ts'
import type { AppData } from '../app/data.ts'
import { Section } from '../section.tsx'
import { type RewardSettings, type SectionProps, SettingsForm, useMaySetRewards } from './settings-form.tsx'

const EXAMPLE = 12.3456
const DECIMALS = [0, 1, 2, 3, 4].map((value) => ({ value: String(value), label: value === 1 ? '1 decimal' : `${value} decimals` })) // prettier-ignore

function roundedExample(mode: RewardSettings['rounding'], decimals: number): number {
  const unit = 10 ** (4 - decimals)
  const [round] = { down: [Math.floor], nearest: [Math.round], up: [Math.ceil] }[mode]
  return ((round?.(Math.round(EXAMPLE * 10_000) / unit) ?? 0) * unit) / 10_000
}

export function RoundingSection({ appId, settings, app }: SectionProps & { app: AppData }) {
  const isReader = !useMaySetRewards()
  const { rounding, decimals, minimum_reward } = settings
  const shown = { rounding, decimals: String(decimals), minimum_reward: String(minimum_reward ?? '') }
  const form = useForm({
    initialValues: shown,
    validate: { minimum_reward: (text) => (text.trim() === '' ? null : checkPositive(text)) },
  })
  const { values } = form
  return (
    <Section
      title="Rounding and minimum"
      about="Rewards are rounded before they are shown, sent or credited. Clicks keep the rule that applied when they were made."
    >
      <SettingsForm
        appId={appId}
        form={form}
        shown={shown}
        bodyOf={({ minimum_reward: least, ...rule }) => ({
          rounding: rule.rounding,
          decimals: Number(rule.decimals),
          minimum_reward: readAmount(least) === null ? null : amountOf(least),
        })}
      >
        <Group align="flex-start">
          <Select
            label="Round rewards"
            data={choicesOf(ROUNDINGS)}
            allowDeselect={false}
            readOnly={isReader}
            {...form.getInputProps('rounding')}
          />
          <Select
            label="To"
            data={DECIMALS}
            allowDeselect={false}
            readOnly={isReader}
            {...form.getInputProps('decimals')}
          />
          <TextInput
            label="Minimum reward"
            description="Offers with a lower reward are hidden. Leave empty for no minimum."
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            placeholder="no minimum"
            inputMode="decimal"
            readOnly={isReader}
            {...form.getInputProps('minimum_reward')}
          />
        </Group>
        <Text aria-live="polite">
          A reward of {EXAMPLE} becomes{' '}
          <strong>{formatReward(roundedExample(values.rounding, Number(values.decimals)), app.currency)}</strong>.
        </Text>
      </SettingsForm>
    </Section>
  )
}
