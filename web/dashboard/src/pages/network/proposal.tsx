// One proposal of an advertiser: what it would change in the offer as it is now, and the decision.
import { Alert, Anchor, Button, List, Stack } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { Link, useLocation, useParams } from 'wouter'
import type { Schemas } from '../../lib/api-types.ts'
import { post } from '../../lib/api.ts'
import { mayWrite, useMe } from '../../lib/me.ts'
import { queryClient, useChange, useGet } from '../../lib/queries.ts'
import { ReasonModal } from '../../parts/ledger/reason-form.tsx'
import { OfferForm } from '../../parts/network-offers/offer-form.tsx'
import { bodyOf, valuesOf } from '../../parts/network-offers/values.ts'
import { Loaded, Page } from '../../parts/page.tsx'
import { Changes } from '../../parts/proposals/changes.tsx'
import { Section } from '../../parts/section.tsx'
import { Status } from '../../parts/status.tsx'
import { Time } from '../../parts/time.tsx'

type Proposal = Schemas['OfferProposal']

const REFRESH = ['/offer-proposals', '/offers', '/me']
const DONE = 'Approved. The advertiser gets an email.'

export default function ProposalPage() {
  const { proposal_id } = useParams<{ proposal_id: string }>()
  const found = useGet(`/offer-proposals/${encodeURIComponent(proposal_id)}`)
  return <Loaded query={found}>{(proposal) => <Shown proposal={proposal} />}</Loaded>
}

/** The operator says what publishers get for goals that are new. */
const lacksPayouts = ({ record }: Proposal) => record?.goals.some(({ payout }) => payout === null) === true

function Shown({ proposal }: { proposal: Proposal }) {
  const mayDecide = mayWrite(useMe()) && proposal.status === 'waiting'
  const [isEditing, { open, close }] = useDisclosure()
  const { name, advertiser_id, advertiser, is_new, external_id, proposed_by, created_at, status, changes } = proposal
  return (
    <Page
      title={name}
      about={
        <>
          {is_new ? 'New offer' : 'Offer change'} ·{' '}
          <Anchor component={Link} href={`/network/advertisers/${advertiser_id}`} inherit underline="always">
            {advertiser}
          </Anchor>{' '}
          · external ID {external_id} · proposed by {proposed_by} <Time at={created_at} ago />
        </>
      }
      actions={
        <>
          <Status value={status} />
          {proposal.offer_id !== null && (
            <Button component={Link} href={`/network/offers/${proposal.offer_id}`} variant="default">
              Offer
            </Button>
          )}
          {mayDecide && !isEditing && <Decision proposal={proposal} edit={open} />}
        </>
      }
    >
      <Notices proposal={proposal} />
      {mayDecide && isEditing && proposal.record !== null ? (
        <EditedApproval proposal={proposal} record={proposal.record} close={close} />
      ) : (
        <Section
          title={is_new ? 'Offer' : 'Changes'}
          about={
            status === 'waiting' && !is_new
              ? 'Compared with the current offer. All other fields stay unchanged.'
              : undefined
          }
        >
          <Changes
            reader="operator"
            changes={changes}
            isNew={is_new}
            beforeName={status === 'waiting' ? 'Now' : 'Before'}
          />
        </Section>
      )}
    </Page>
  )
}

function Notices({ proposal }: { proposal: Proposal }) {
  const { has_moved, problem, changes, warnings, status, reason, decided_at, decided_by } = proposal
  return (
    <>
      {decided_at !== null && (
        <Alert color="gray">
          {status === 'withdrawn' ? 'Withdrawn' : status === 'approved' ? 'Approved' : 'Refused'} by {decided_by}{' '}
          <Time at={decided_at} ago />
          {reason === null ? '.' : `: ${reason}`}
        </Alert>
      )}
      {has_moved && (
        <Alert color="yellow">The offer now belongs to another advertiser. This proposal can only be refused.</Alert>
      )}
      {problem !== null && (
        <Alert color="yellow" title="This can’t be approved as it is">
          {problem}
        </Alert>
      )}
      {changes.some(({ changed_since }) => changed_since) && (
        <Alert color="yellow">
          The offer was edited after this was proposed. Approving overwrites the fields marked “Edited since”.
        </Alert>
      )}
      {warnings.length > 0 && (
        <Alert color="yellow" title="Warnings">
          <List size="sm">
            {warnings.map((warning) => (
              <List.Item key={warning}>{warning}</List.Item>
            ))}
          </List>
        </Alert>
      )}
    </>
  )
}

const seenOf = ({ seen_updated_at }: Proposal) => (seen_updated_at === null ? {} : { seen_updated_at })

function Decision({ proposal, edit }: { proposal: Proposal; edit: () => void }) {
  const { proposal_id, name, record, has_moved } = proposal
  const [isOpen, { open, close }] = useDisclosure()
  const path = `/offer-proposals/${proposal_id}` as const
  const approve = useChange(() => post(`${path}/approve`, seenOf(proposal)), { refresh: REFRESH, done: DONE })
  const refuse = useChange((reason: string) => post(`${path}/refuse`, { reason }), {
    refresh: REFRESH,
    done: 'Refused. The advertiser gets an email.',
    onError: () => {}, // the dialog shows it
  })
  const canApprove = record !== null && !has_moved
  const lacks = lacksPayouts(proposal)
  return (
    <>
      {canApprove && !lacks && (
        <Button loading={approve.isPending} onClick={() => approve.mutate(undefined)}>
          Approve
        </Button>
      )}
      {canApprove && (
        <Button variant={lacks ? 'filled' : 'default'} onClick={edit}>
          {lacks ? 'Set payouts and approve' : 'Edit and approve'}
        </Button>
      )}
      <Button color="red" variant="light" onClick={open}>
        Refuse
      </Button>
      <ReasonModal
        opened={isOpen}
        title={`Refuse the proposal for ${name}?`}
        about="The advertiser sees your reason in an email and in the dashboard."
        action="Refuse"
        onClose={close}
        send={(reason) => refuse.mutateAsync(reason)}
      />
    </>
  )
}

type EditedApprovalProps = { proposal: Proposal; record: NonNullable<Proposal['record']>; close: () => void }

/** The offer as it would be written, to be changed first. */
function EditedApproval({ proposal, record, close }: EditedApprovalProps) {
  const [, navigate] = useLocation()
  return (
    <Stack>
      <Button variant="default" onClick={close} style={{ alignSelf: 'flex-start' }}>
        Back to the changes
      </Button>
      <OfferForm
        initial={valuesOf(record)}
        isNew={false}
        mayChange
        isReady
        action="Approve"
        save={async (values) => {
          const body = { ...bodyOf(values), status: record.status, ...seenOf(proposal) }
          const { offer_id } = await post(`/offer-proposals/${proposal.proposal_id}/approve`, body)
          notifications.show({ message: DONE, color: 'green' })
          await queryClient.invalidateQueries({ predicate: ({ queryKey: [of] }) => REFRESH.some((path) => String(of).startsWith(path)) }) // prettier-ignore
          navigate(`/network/offers/${offer_id}`)
        }}
      />
    </Stack>
  )
}
