import { Radio, Stack, Switch } from '@mantine/core'
import { useForm } from '@mantine/form'
import { APP_KINDS, choicesOf } from '../../lib/words.ts'
import { Section } from '../section.tsx'
import { type SectionProps, SettingsForm, useMaySetRewards } from './settings-form.tsx'

const ABOUT = { reward: 'Users see your offers on a wall.', tracking: 'Your server shows offers; the app has no wall.' }

export function KindSection({ appId, settings }: SectionProps) {
  const isReader = !useMaySetRewards()
  const shown = { kind: settings.kind }
  const form = useForm({ initialValues: shown })
  return (
    <Section title="App type">
      <SettingsForm appId={appId} form={form} shown={shown} bodyOf={(values) => values}>
        <Radio.Group label="This app is for" {...form.getInputProps('kind')}>
          <Stack gap="xs" mt="xs">
            {choicesOf(APP_KINDS).map(({ value, label }) => (
              <Radio key={value} value={value} label={label} description={ABOUT[value]} disabled={isReader} />
            ))}
          </Stack>
        </Radio.Group>
      </SettingsForm>
    </Section>
  )
}

export function BalanceSection({ appId, settings }: SectionProps) {
  const isReader = !useMaySetRewards()
  const shown = { keeps_balance: settings.keeps_balance }
  const form = useForm({ initialValues: shown })
  return (
    <Section
      title="User balances"
      about="For apps without a server that credits users. Approved rewards are added to each user’s balance, and reversed rewards are deducted. Your program reads the balance with GET /api/v1/users/{userId} and debits it with POST /api/v1/users/{userId}/debits."
    >
      <SettingsForm appId={appId} form={form} shown={shown} bodyOf={(values) => values}>
        <Switch
          label="Keep a balance for each user"
          description="Rewards approved from now on are added. If you turn this off, balances stay as they are."
          disabled={isReader}
          {...form.getInputProps('keeps_balance', { type: 'checkbox' })}
        />
      </SettingsForm>
    </Section>
  )
}
