import { useParams } from 'wouter'
import { Calls } from '../../parts/advertisers/calls.tsx'
import { Page } from '../../parts/page.tsx'

export default function Callbacks() {
  const { advertiser_id } = useParams<{ advertiser_id: string }>()
  return (
    <Page title="Callbacks" about="What your system sent us, and how we read it. Tokens are masked.">
      <Calls advertiserId={Number(advertiser_id)} />
    </Page>
  )
}
