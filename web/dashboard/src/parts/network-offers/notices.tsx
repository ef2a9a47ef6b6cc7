// What an operator should know about an offer before editing it.
import { Alert, Anchor } from '@mantine/core'
import { Link } from 'wouter'
import type { OfferData } from './values.ts'

export const Notices = ({ offer: { advertiser_id, waiting_proposal_id, is_out_of_budget } }: { offer: OfferData }) => (
  <>
    {waiting_proposal_id !== null && (
      <Alert color="blue" title="The advertiser has proposed changes" role="note">
        <Anchor
          component={Link}
          href={`/network/proposals/${waiting_proposal_id}`}
          inherit
          c="inherit"
          underline="always"
        >
          Review proposal
        </Anchor>
      </Alert>
    )}
    {is_out_of_budget && (
      <Alert color="yellow" title="This offer is closed" role="note">
        A{' '}
        <Anchor component={Link} href={`/network/advertisers/${advertiser_id}`} inherit c="inherit" underline="always">
          budget of the advertiser
        </Anchor>{' '}
        is used up.
      </Alert>
    )}
  </>
)
