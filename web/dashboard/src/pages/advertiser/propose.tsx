// The form by which an advertiser proposes a new offer, or changes of one.
import { notifications } from '@mantine/notifications'
import { useState } from 'react'
import { useLocation, useParams } from 'wouter'
import type { Schemas } from '../../lib/api-types.ts'
import { post } from '../../lib/api.ts'
import { mayWriteAdvertiser, useMe } from '../../lib/me.ts'
import { queryClient, useGet } from '../../lib/queries.ts'
import { OfferForm } from '../../parts/network-offers/offer-form.tsx'
import { NEW_OFFER, type OfferValues, proposalOf, valuesOf } from '../../parts/network-offers/values.ts'
import { Loaded, Page } from '../../parts/page.tsx'

const ABOUT = 'Nothing changes until the operator approves the proposal. You get an email with the decision.'

export default function Propose() {
  const { advertiser_id, offer_id } = useParams<{ advertiser_id: string; offer_id?: string }>()
  return offer_id === undefined ? (
    <NewOffer advertiserId={advertiser_id} />
  ) : (
    <KnownOffer key={offer_id} advertiserId={advertiser_id} offerId={offer_id} />
  )
}

function NewOffer({ advertiserId }: { advertiserId: string }) {
  const advertiser = useGet(`/advertisers/${advertiserId}`)
  return (
    <Loaded query={advertiser}>
      {() => (
        <Form
          title="Propose an offer"
          advertiserId={advertiserId}
          initial={NEW_OFFER}
          bodyOf={(values) => ({ external_id: values.external_id, ...proposalOf(values, null) })}
        />
      )}
    </Loaded>
  )
}

function KnownOffer({ advertiserId, offerId }: { advertiserId: string; offerId: string }) {
  const offer = useGet(`/advertisers/${advertiserId}/offers/${offerId}`)
  return <Loaded query={offer}>{(data) => <Change advertiserId={advertiserId} offer={data} />}</Loaded>
}

/** What the person changed is proposed, and not what others changed since the form was opened. */
function Change({ advertiserId, offer }: { advertiserId: string; offer: Schemas['AdvertiserOffer'] }) {
  const [initial] = useState(() => valuesOf(offer))
  return (
    <Form
      title={`Propose changes to ${offer.name}`}
      advertiserId={advertiserId}
      initial={initial}
      bodyOf={(values) => ({ offer_id: offer.offer_id, ...proposalOf(values, initial) })}
    />
  )
}

type FormProps = { title: string; advertiserId: string; initial: OfferValues; bodyOf: (values: OfferValues) => object }

function Form({ title, advertiserId, initial, bodyOf }: FormProps) {
  const mayChange = mayWriteAdvertiser(useMe())
  const [, navigate] = useLocation()
  const isNew = initial === NEW_OFFER
  return (
    <Page title={title} about={ABOUT}>
      <OfferForm
        initial={initial}
        isNew={isNew}
        mayChange={mayChange}
        proposer={advertiserId}
        action={isNew ? 'Propose offer' : 'Propose changes'}
        save={async (values) => {
          const base = `/advertisers/${advertiserId}` as const
          const { proposal_id } = await post(`${base}/proposals`, bodyOf(values))
          notifications.show({ message: 'Proposal sent to the operator.', color: 'green' })
          await queryClient.invalidateQueries({ predicate: ({ queryKey: [of] }) => String(of).startsWith(base) })
          navigate(`${base}/proposals/${proposal_id}`)
        }}
      />
    </Page>
  )
}
