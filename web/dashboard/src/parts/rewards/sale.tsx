// A currency sale: rewards are multiplied for a time.
import { Button, Group, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { amountOf, checkPositive } from '../../lib/amounts.ts'
import { patch } from '../../lib/api.ts'
import { timeZone } from '../../lib/format.ts'
import { useChange } from '../../lib/queries.ts'
import { fromClockTime, toClockTime } from '../../lib/zoned-time.ts'
import { confirm } from '../confirm.tsx'
import { Section } from '../section.tsx'
import { Time } from '../time.tsx'
import { type RewardSettings, type SectionProps, SettingsForm, useMaySetRewards } from './settings-form.tsx'
import { Tag } from '../status.tsx'

type Sale = NonNullable<RewardSettings['sale']>

export function SaleSection({ appId, settings: { sale } }: SectionProps) {
  const mayChange = useMaySetRewards()
  const isOver = sale === null || Date.parse(sale.ends_at) <= Date.now()
  const shown = {
    sale: {
      multiplier: isOver ? '' : String(sale.multiplier),
      starts_at: isOver ? '' : toClockTime(sale.starts_at),
      ends_at: isOver ? '' : toClockTime(sale.ends_at),
    },
  }
  const form = useForm({ initialValues: shown, validate: { sale: { multiplier: checkPositive } } })
  const end = useChange(() => patch(`/apps/${appId}/rewards`, { sale: null }), {
    refresh: [`/apps/${appId}`],
    done: 'The sale has ended.',
  })
  const askToEnd = async () => {
    const text = 'Clicks from now on get the usual rewards. Clicks during the sale keep it.'
    if (await confirm({ title: 'End the sale?', text, action: 'End the sale' })) end.mutate(undefined)
  }
  return (
    <Section
      title="Currency sale"
      about="Multiplies every reward for a limited time. Clicks during the sale keep the multiplier, however late they convert. What you earn in US dollars stays the same, so you pay for the extra rewards."
    >
      {sale !== null && <SaleState sale={sale} />}
      <SettingsForm
        appId={appId}
        form={form}
        shown={shown}
        bodyOf={({ sale: { multiplier, starts_at, ends_at } }) => ({
          sale: {
            multiplier: amountOf(multiplier),
            ...(starts_at === '' ? {} : { starts_at: fromClockTime(starts_at) ?? starts_at }),
            ends_at: fromClockTime(ends_at) ?? ends_at,
          },
        })}
      >
        <Group align="flex-start">
          <TextInput
            label="Multiply rewards by"
            placeholder="2"
            required
            inputMode="decimal"
            readOnly={!mayChange}
            {...form.getInputProps('sale.multiplier')}
          />
          <TextInput
            type="datetime-local"
            label={`Starts (${timeZone()})`}
            description="Leave empty to start now."
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            readOnly={!mayChange}
            {...form.getInputProps('sale.starts_at')}
          />
          <TextInput
            type="datetime-local"
            label={`Ends (${timeZone()})`}
            required
            readOnly={!mayChange}
            {...form.getInputProps('sale.ends_at')}
          />
        </Group>
      </SettingsForm>
      {!isOver && mayChange && (
        <Group>
          <Button variant="default" loading={end.isPending} onClick={() => void askToEnd()}>
            End the sale
          </Button>
        </Group>
      )}
    </Section>
  )
}

function SaleState({ sale: { multiplier, starts_at, ends_at } }: { sale: Sale }) {
  const now = Date.now()
  const [word, color] =
    now >= Date.parse(ends_at) ? ['Ended', 'gray'] : now >= Date.parse(starts_at) ? ['Running', 'green'] : ['Scheduled', 'yellow'] // prettier-ignore
  return (
    <Group gap="xs" role="status">
      <Tag color={color}>{word}</Tag>
      <Text>
        ×{multiplier} from <Time at={starts_at} /> to <Time at={ends_at} />
      </Text>
    </Group>
  )
}
