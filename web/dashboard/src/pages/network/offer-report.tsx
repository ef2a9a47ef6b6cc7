import { Button } from '@mantine/core'
import { IconEdit } from '@tabler/icons-react'
import { Link, useParams } from 'wouter'
import { useGet } from '../../lib/queries.ts'
import { ReportPage } from '../../parts/network-report/report.tsx'
import { Loaded } from '../../parts/page.tsx'

export default function OfferReport() {
  const { offer_id } = useParams<{ offer_id: string }>()
  const offer = useGet(`/offers/${offer_id}`)
  const page = `/network/offers/${offer_id}`
  return (
    <Loaded query={offer}>
      {({ name, advertiser }) => (
        <ReportPage
          key={offer_id}
          title={`Report: ${name}`}
          about={`Offer ${offer_id} · ${advertiser}. Days in UTC, amounts in USD.`}
          fixed={{ offer_id }}
          actions={
            <Button component={Link} href={page} variant="default" leftSection={<IconEdit size={16} />}>
              Offer settings
            </Button>
          }
        />
      )}
    </Loaded>
  )
}
