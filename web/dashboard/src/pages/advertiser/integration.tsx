// How an advertiser's system calls us: its token, where it may call from, its signature, and the URLs.
import { Stack } from '@mantine/core'
import { useState } from 'react'
import { useParams } from 'wouter'
import { mayWriteAdvertiser, useMe } from '../../lib/me.ts'
import { useGet } from '../../lib/queries.ts'
import { AddressSection } from '../../parts/advertisers/settings.tsx'
import { SignatureSection } from '../../parts/advertisers/signature.tsx'
import { type AdvertiserData, TokenSection } from '../../parts/advertisers/token.tsx'
import { UrlsSection } from '../../parts/advertisers/urls.tsx'
import { Loaded, Page } from '../../parts/page.tsx'

export default function Integration() {
  const { advertiser_id } = useParams<{ advertiser_id: string }>()
  const advertiser = useGet(`/advertisers/${advertiser_id}`)
  return (
    <Page title="Integration" about="How your system reports completed offers to us.">
      <Loaded query={advertiser}>{(data) => <Parts key={data.advertiser_id} advertiser={data} />}</Loaded>
    </Page>
  )
}

function Parts({ advertiser }: { advertiser: AdvertiserData }) {
  const mayChange = mayWriteAdvertiser(useMe())
  // Known only to this page, and only until one leaves it.
  const [token, setToken] = useState<string | null>(null)
  return (
    <Stack gap="lg">
      <TokenSection advertiser={advertiser} mayChange={mayChange} token={token} onToken={setToken} />
      <UrlsSection advertiserId={advertiser.advertiser_id} token={token} isOwn />
      <AddressSection advertiser={advertiser} mayChange={mayChange} />
      <SignatureSection advertiser={advertiser} mayChange={mayChange} />
    </Stack>
  )
}
