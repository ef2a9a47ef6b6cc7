// How the users of a publisher see an offer: as good as the form has it now.
import { Badge, Box, Group, NumberInput, Paper, Stack, Text } from '@mantine/core'
import { IconClock, IconPhoto } from '@tabler/icons-react'
import { useEffect, useState } from 'react'
import { OFFER_FIELDS } from '../../lib/api-types.ts'
import { formatCount } from '../../lib/format.ts'
import { amountOf, type GoalValues, type OfferValues, payoutOf } from './values.ts'

const DIFFICULTIES = OFFER_FIELDS.difficulty.data
const SIZE = 64

/** Rounded down to four decimals, as rewards are. */
const rewardOf = (usd: number, rate: number) => formatCount(Math.floor(usd * rate * 10_000 + 0.001) / 10_000)

/** What users are rewarded with is for the operator to say: an advertiser's proposal has none. */
export function Preview({ values, hasRewards = true }: { values: OfferValues; hasRewards?: boolean }) {
  const [rate, setRate] = useState<number | string>(1_000)
  const coins = typeof rate === 'number' ? rate : 0
  return (
    <Stack gap="sm">
      <Paper shadow="sm" maw={420} data-testid="preview">
        <Stack gap="sm">
          <Group wrap="nowrap" align="flex-start">
            <Picture url={values.image_url} />
            <Box flex={1} miw={0}>
              <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
                {values.name || 'Offer name'}
              </Text>
              <Text size="sm" c="dimmed" lineClamp={3} style={{ overflowWrap: 'anywhere' }}>
                {values.description}
              </Text>
            </Box>
          </Group>
          <Group justify="space-between">
            {hasRewards && (
              <Badge size="lg" variant="filled" tt="none">
                {rewardOf(payoutOf(values.goals), coins)} Coins
              </Badge>
            )}
            {values.time_estimate !== '' && (
              <Group gap={4} wrap="nowrap">
                <IconClock size={16} aria-hidden />
                <Text size="sm">{values.time_estimate}</Text>
              </Group>
            )}
            <Text size="sm">{DIFFICULTIES.find(({ value }) => value === values.difficulty)?.label}</Text>
          </Group>
          {values.payment_required && <Text size="sm">Payment required</Text>}
          {values.requirements !== '' && <Text size="sm">{values.requirements}</Text>}
          {values.goals.length > 1 && <Goals goals={values.goals} rate={hasRewards ? coins : null} />}
        </Stack>
      </Paper>
      {hasRewards && (
        <NumberInput
          label="Coins per US dollar"
          description="An example: every app has its own currency."
          maw={220}
          min={0}
          value={rate}
          onChange={setRate}
        />
      )}
    </Stack>
  )
}

function Picture({ url }: { url: string }) {
  const [isBroken, setBroken] = useState(false)
  useEffect(() => setBroken(false), [url])
  const isUsable = /^(\/[^/\\]|https:\/\/)/.test(url)
  if (!isUsable || isBroken)
    return (
      <Box w={SIZE} h={SIZE} c="dimmed" role="img" aria-label="No picture">
        <IconPhoto size={SIZE} stroke={1} />
      </Box>
    )
  return (
    <Box component="img" src={url} alt="" w={SIZE} h={SIZE} bdrs="md" onError={() => setBroken(true)} flex="none" />
  )
}

function Goals({ goals, rate }: { goals: GoalValues[]; rate: number | null }) {
  return (
    <Stack gap={4} component="ol" m={0} pl="lg">
      {goals.map((goal, i) => (
        <li key={i}>
          <Group justify="space-between" wrap="nowrap">
            <Text size="sm">
              {goal.name || 'Goal'}
              {goal.is_optional && ' (optional)'}
            </Text>
            {rate !== null && (
              <Text size="sm" fw={600} style={{ whiteSpace: 'nowrap' }}>
                {rewardOf(amountOf(goal.payout), rate)}
              </Text>
            )}
          </Group>
        </li>
      ))}
    </Stack>
  )
}
