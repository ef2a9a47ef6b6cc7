// One of an advertiser's proposals: what it changes, and what the operator decided.
import { Alert, Button } from '@mantine/core'
import { Link, useParams } from 'wouter'
import type { Schemas } from '../../lib/api-types.ts'
import { post } from '../../lib/api.ts'
import { mayWriteAdvertiser, useMe } from '../../lib/me.ts'
import { useChange, useGet } from '../../lib/queries.ts'
import { confirm } from '../../parts/confirm.tsx'
import { Loaded, Page } from '../../parts/page.tsx'
import { Changes } from '../../parts/proposals/changes.tsx'
import { Section } from '../../parts/section.tsx'
import { Status } from '../../parts/status.tsx'
import { Time } from '../../parts/time.tsx'

type Proposal = Schemas['AdvertiserProposal']

export default function ProposalPage() {
  const { advertiser_id, proposal_id } = useParams<{ advertiser_id: string; proposal_id: string }>()
  const base = `/advertisers/${advertiser_id}` as const
  const found = useGet(`${base}/proposals/${proposal_id}`)
  return <Loaded query={found}>{(proposal) => <Shown base={base} proposal={proposal} />}</Loaded>
}

type ShownProps = { base: `/advertisers/${string}`; proposal: Proposal }

function Shown({ base, proposal }: ShownProps) {
  const { name, is_new, external_id, proposed_by, created_at, status, reason, decided_at, changes } = proposal
  return (
    <Page
      title={name}
      about={
        <>
          {is_new ? 'New offer' : 'Offer change'} · external ID {external_id} · proposed by {proposed_by}{' '}
          <Time at={created_at} ago />
        </>
      }
      actions={<Actions base={base} proposal={proposal} />}
    >
      {status === 'refused' && (
        <Alert color="gray" title="The operator refused this proposal">
          {reason}
        </Alert>
      )}
      {status === 'approved' && decided_at !== null && (
        <Alert color="green">
          Approved <Time at={decided_at} ago />. The operator may have edited the proposal: the offer page shows the
          current values.
        </Alert>
      )}
      <Section title={is_new ? 'Offer' : 'Changes'}>
        <Changes reader="advertiser" changes={changes} isNew={is_new} beforeName="Before" />
      </Section>
    </Page>
  )
}

function Actions({ base, proposal: { proposal_id, offer_id, status } }: ShownProps) {
  const mayChange = mayWriteAdvertiser(useMe())
  const withdraw = useChange(() => post(`${base}/proposals/${proposal_id}/withdraw`), {
    refresh: [`${base}/proposals`, `${base}/offers`],
    done: 'Proposal withdrawn.',
  })
  const ask = async () => {
    if (
      await confirm({
        title: 'Withdraw this proposal?',
        text: 'Nothing changes on the network. You can submit a new proposal at any time.',
        action: 'Withdraw',
      })
    )
      // prettier-ignore
      withdraw.mutate(undefined)
  }
  return (
    <>
      <Status value={status} />
      {offer_id !== null && (
        <Button component={Link} href={`${base}/offers/${offer_id}`} variant="default">
          Offer
        </Button>
      )}
      {mayChange && status === 'waiting' && (
        <Button variant="default" loading={withdraw.isPending} onClick={() => void ask()}>
          Withdraw
        </Button>
      )}
    </>
  )
}
