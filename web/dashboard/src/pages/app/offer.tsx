// What one offer brought an app.
import { Button } from '@mantine/core'
import { Link, useParams } from 'wouter'
import { useGet } from '../../lib/queries.ts'
import { AppReport } from '../../parts/reports/app-report.tsx'

export default function Offer() {
  const { app_id, offer_id } = useParams<{ app_id: string; offer_id: string }>()
  const offers = `/apps/${app_id}/offers`
  const offer = useGet(`/apps/${app_id}/offers/${offer_id}`)
  // An offer that no longer runs still has figures, and these its name.
  const stats = useGet(offer.error === null ? null : `/apps/${app_id}/stats`, {
    query: { ...LONG_AGO(), offer_id, group_by: 'offer' },
  })
  const name = offer.data?.offer.name ?? stats.data?.rows[0]?.offer_name ?? `Offer ${offer_id}`
  return (
    <AppReport
      key={offer_id}
      appId={app_id}
      offerId={offer_id}
      title={name}
      about={`Offer ${offer_id}: performance in this app. Test traffic is excluded.`}
      actions={
        offer.data !== undefined && (
          <Button component={Link} href={`${offers}?offer=${offer_id}`} variant="default">
            Offer details
          </Button>
        )
      }
    />
  )
}

const MAX_DAYS = 400
const LONG_AGO = () => ({ from: new Date(Date.now() - (MAX_DAYS - 1) * 86_400_000).toISOString().slice(0, 10) })
