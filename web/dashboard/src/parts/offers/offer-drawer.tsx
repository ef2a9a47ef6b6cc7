// All about one offer.
import { Alert, Anchor, Drawer, Group, Image, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { OFFER_FIELDS, type Schemas } from '../../lib/api-types.ts'
import { formatLanguage, formatReward, formatUsd } from '../../lib/format.ts'
import { useGet } from '../../lib/queries.ts'
import { CATEGORIES, DIFFICULTIES, labelOf } from '../../lib/words.ts'
import { DataTable } from '../data-table.tsx'
import { Facts } from '../facts.tsx'
import { Loaded } from '../page.tsx'
import { Time } from '../time.tsx'
import { ExpectedEpc, RankReasons } from './rank.tsx'
import { formatAllCountries, formatPlatforms } from './words.tsx'
import { Tag } from '../status.tsx'

type Details = Schemas['AppOfferReply']
type OfferDrawerProps = { appId: string; offerId: string | null; onClose: () => void }

export function OfferDrawer({ appId, offerId, onClose }: OfferDrawerProps) {
  return (
    <Drawer
      opened={offerId !== null}
      onClose={onClose}
      position="right"
      size="lg"
      title="Offer"
      transitionProps={{ duration: 0 }}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {offerId !== null && <Content key={offerId} appId={appId} offerId={offerId} />}
    </Drawer>
  )
}

function Content({ appId, offerId }: { appId: string; offerId: string }) {
  const details = useGet(`/apps/${appId}/offers/${encodeURIComponent(offerId)}`)
  return (
    <Stack>
      <Loaded query={details}>{(data) => <About {...data} />}</Loaded>
      <Anchor component={Link} href={`/apps/${appId}/offers/${encodeURIComponent(offerId)}`}>
        Report of this offer
      </Anchor>
      <Anchor component={Link} href={`/apps/${appId}/offers?tab=why&why=${encodeURIComponent(offerId)}`}>
        Check why a user can’t see this offer
      </Anchor>
    </Stack>
  )
}

const CAPS = {
  open: 'Open',
  full_today: 'Reached for today; reopens at midnight UTC',
  full: 'Reached',
}

function About({ offer, available, reasons, cap, rank }: Details) {
  const facts: [string, ReactNode][] = [
    ['Reward', formatReward(offer.payout_local, offer.currency)],
    ['Payout', formatUsd(offer.payout)],
    ['Requirements', offer.requirements || 'None'],
    ['Payment', offer.payment_required ? 'Required' : 'None'],
    ['Countries', formatAllCountries(offer.countries)],
    ['Platforms', formatPlatforms(offer.platforms)],
    ['Effort', [DIFFICULTIES[offer.difficulty], offer.time_estimate].filter((word) => word !== '').join(', ')],
    ['Pays for', PAYS_FOR[offer.conversion_type]],
    ...factsIfSet(offer),
    ['Caps', CAPS[cap]],
    ['Expected EPC', <ExpectedEpc key="epc" rank={rank} />],
    ['Position on the wall', <RankReasons key="rank" rank={rank} />],
    ['Updated', <Time key="changed" at={offer.updated_at} />],
  ]
  return (
    <Stack>
      <Group wrap="nowrap" align="flex-start">
        <Image src={offer.image_url} alt="" w={64} h={64} radius="md" fit="cover" />
        <div>
          <Title order={2} size="h4">
            {offer.name}
          </Title>
          <Text size="sm" c="dimmed">
            {labelOf(CATEGORIES, offer.category)} · offer {offer.offer_id}
          </Text>
        </div>
      </Group>
      {!available && (
        <Alert color="yellow" title="Users of this app can’t see this offer">
          {reasons.map(({ code, message }) => (
            <Text key={code} size="sm">
              {message}
            </Text>
          ))}
        </Alert>
      )}
      <Text>{offer.description}</Text>
      <Facts label="About this offer" facts={facts} />
      <Goals offer={offer} />
    </Stack>
  )
}

/** What only some offers have. */
const factsIfSet = (offer: Details['offer']): [string, string][] =>
  Object.entries(OFFER_FIELDS).flatMap(([name, field]) => {
    const value = 'ifSet' in field ? (offer as Partial<Record<string, unknown>>)[name] : undefined
    return typeof value === 'string' ? [[field.label, name === 'language' ? formatLanguage(value) : value]] : []
  })

const PAYS_FOR: Record<Details['offer']['conversion_type'], string> = {
  cpa: 'An action',
  cpi: 'An install',
  cpe: 'An event, such as a level reached',
  cpl: 'A sign-up',
  survey: 'A completed survey',
}

function Goals({ offer: { goals, currency } }: { offer: Details['offer'] }) {
  return (
    <>
      <Title order={3} size="h5">
        Goals
      </Title>
      <DataTable
        label="Goals"
        isPlain
        minWidth={0}
        rows={goals}
        rowKey={(goal) => goal.goal_id}
        columns={[
          { name: 'Goal', cell: (goal) => <GoalName goal={goal} /> },
          { name: 'Reward', isNumber: true, cell: (goal) => formatReward(goal.payout_local, currency) },
          { name: 'Payout', isNumber: true, cell: payoutOf },
        ]}
      />
    </>
  )
}

type Goal = Details['offer']['goals'][number]

const GoalName = ({ goal }: { goal: Goal }) => (
  <>
    <Group gap="xs">
      {goal.name}
      {goal.is_optional && <Tag>Optional</Tag>}
    </Group>
    <Text size="sm" c="dimmed">
      {goal.description}
    </Text>
  </>
)

const payoutOf = ({ payout_percent, payout }: Goal) =>
  payout_percent === undefined ? formatUsd(payout) : `${payout_percent} % of the amount`
