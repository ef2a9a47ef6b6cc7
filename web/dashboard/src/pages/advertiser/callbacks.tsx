import { useParams } from 'wouter'
import { useGet } from '../../lib/queries.ts'
import { Calls } from '../../parts/advertisers/calls.tsx'
import { Loaded, Page } from '../../parts/page.tsx'

export default function Callbacks() {
  const { advertiser_id } = useParams<{ advertiser_id: string }>()
  const advertiser = useGet(`/advertisers/${advertiser_id}`)
  return (
    <Page title="Callbacks" about="What your system sent us, and how we read it. Tokens are masked.">
      <Loaded query={advertiser}>{(data) => <Calls advertiserId={data.advertiser_id} />}</Loaded>
    </Page>
  )
}
