import { Alert, Anchor, Button, Group, Stack, Tabs } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconChartBar, IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useLocation, useParams } from 'wouter'
import { post, put } from '../../lib/api.ts'
import { mayWrite, useMe } from '../../lib/me.ts'
import { useChange, useGet } from '../../lib/queries.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { confirm } from '../../parts/confirm.tsx'
import { BehindNotice, OfferFeed } from '../../parts/feeds/offer-feed.tsx'
import { Duplicate } from '../../parts/network-offers/duplicate.tsx'
import { History } from '../../parts/network-offers/history.tsx'
import { Notices } from '../../parts/network-offers/notices.tsx'
import { OfferForm } from '../../parts/network-offers/offer-form.tsx'
import { CapUsage } from '../../parts/network-offers/usage.tsx'
import { bodyOf, NEW_OFFER, type OfferData, valuesOf } from '../../parts/network-offers/values.ts'
import { Loaded, Page } from '../../parts/page.tsx'
import { Status } from '../../parts/status.tsx'
import { Time } from '../../parts/time.tsx'

export default function Offer() {
  const { offer_id } = useParams<{ offer_id: string }>()
  return offer_id === 'new' ? <NewOffer /> : <KnownOffer key={offer_id} offerId={offer_id} />
}

function NewOffer() {
  const [filters] = useFilters()
  const [, navigate] = useLocation()
  const mayChange = mayWrite(useMe())
  return (
    <Page title="New offer">
      <OfferForm
        initial={{ ...NEW_OFFER, advertiser_id: filters['advertiser_id'] ?? '' }}
        isNew
        mayChange={mayChange}
        save={async (values) => {
          const { advertiser_id, external_id } = values
          const owner = { advertiser_id: Number(advertiser_id), external_id }
          const { offer_id } = await post('/offers', { ...bodyOf(values), ...owner })
          notifications.show({ message: 'Offer created.', color: 'green' })
          navigate(`/network/offers/${offer_id}`)
        }}
      />
    </Page>
  )
}

function KnownOffer({ offerId }: { offerId: string }) {
  const offer = useGet(`/offers/${offerId}`)
  return <Loaded query={offer}>{(data) => <Shown offer={data} />}</Loaded>
}

function Shown({ offer }: { offer: OfferData }) {
  const mayChange = mayWrite(useMe())
  const [filters, change] = useFilters()
  const about = (
    <>
      Offer {offer.offer_id} ·{' '}
      <Anchor component={Link} href={`/network/advertisers/${offer.advertiser_id}`} inherit underline="always">
        {offer.advertiser}
      </Anchor>{' '}
      · external ID {offer.external_id} · updated <Time at={offer.updated_at} ago />
    </>
  )
  return (
    <Page title={offer.name} about={about} actions={<Actions offer={offer} mayChange={mayChange} />}>
      {offer.behind_offer_id !== null && <BehindNotice offerId={offer.behind_offer_id} />}
      <Notices offer={offer} />
      <OfferFeed offerId={offer.offer_id} mayChange={mayChange} />
      <Tabs
        value={filters['tab'] ?? 'details'}
        onChange={(tab) => change({ tab: tab === 'details' ? null : tab })}
        keepMounted={false}
      >
        <Tabs.List mb="lg">
          <Tabs.Tab value="details">Details</Tabs.Tab>
          <Tabs.Tab value="caps">Caps</Tabs.Tab>
          <Tabs.Tab value="history">History</Tabs.Tab>
        </Tabs.List>
        {/* Stays, with what was typed. */}
        <Tabs.Panel value="details" keepMounted>
          <Details offer={offer} mayChange={mayChange} />
        </Tabs.Panel>
        <Tabs.Panel value="caps">
          <CapUsage offer={offer} />
        </Tabs.Panel>
        <Tabs.Panel value="history">
          <History offerId={offer.offer_id} />
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}

const textOf = (offer: OfferData) => JSON.stringify(valuesOf(offer))

/** What is being typed stays, also when the offer changes meanwhile: then the operator is asked. */
function Details({ offer, mayChange }: { offer: OfferData; mayChange: boolean }) {
  const client = useQueryClient()
  const path = `/offers/${offer.offer_id}` as const
  const [base, setBase] = useState(offer)
  const isStale = textOf(base) !== textOf(offer)
  return (
    <Stack>
      {isStale && (
        <Alert color="yellow" title="Someone else changed this offer" role="status">
          <Button size="xs" variant="default" onClick={() => setBase(offer)}>
            Discard my changes and reload
          </Button>
        </Alert>
      )}
      <OfferForm
        key={textOf(base)}
        initial={valuesOf(base)}
        isNew={false}
        mayChange={mayChange}
        save={async (values) => {
          const seen_updated_at = (isStale ? base : offer).updated_at
          const saved = await put(path, { ...bodyOf(values), status: offer.status, seen_updated_at })
          client.setQueryData([path], saved)
          setBase(saved)
          notifications.show({ message: 'Saved, effective immediately.', color: 'green' })
          await client.invalidateQueries({ predicate: ({ queryKey: [of] }) => String(of).startsWith('/offers') })
        }}
      />
    </Stack>
  )
}

function Actions({ offer, mayChange }: { offer: OfferData; mayChange: boolean }) {
  const isPaused = offer.status === 'paused'
  const toggle = useChange(() => post(`/offers/${offer.offer_id}/${isPaused ? 'resume' : 'pause'}`), {
    refresh: ['/offers'],
    done: isPaused ? 'Offer resumed.' : 'Offer paused.',
  })
  const ask = async () => {
    const text = 'The offer leaves all lists within a second. Users who have already clicked can still convert.'
    if (isPaused || (await confirm({ title: 'Pause this offer?', text, action: 'Pause offer' })))
      toggle.mutate(undefined)
  }
  return (
    <Group gap="xs">
      <Status value={offer.state} />
      <Button
        component={Link}
        href={`/network/offers/${offer.offer_id}/report`}
        variant="default"
        leftSection={<IconChartBar size={16} />}
      >
        Report
      </Button>
      {mayChange && (
        <>
          <Button
            variant="default"
            leftSection={isPaused ? <IconPlayerPlay size={16} /> : <IconPlayerPause size={16} />}
            loading={toggle.isPending}
            onClick={() => void ask()}
          >
            {isPaused ? 'Resume' : 'Pause'}
          </Button>
          <Duplicate offer={offer} />
        </>
      )}
    </Group>
  )
}
