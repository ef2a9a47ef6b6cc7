import { useParams } from 'wouter'
import { AppReport } from '../../parts/reports/app-report.tsx'

export default function Reports() {
  const { app_id } = useParams<{ app_id: string }>()
  return <AppReport appId={app_id} title="Reports" about="Clicks, conversions and payouts. Test traffic is excluded." />
}
