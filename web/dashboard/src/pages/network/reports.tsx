import { ReportPage } from '../../parts/network-report/report.tsx'

export default function NetworkReports() {
  return (
    <ReportPage
      title="Reports"
      about="All publishers and advertisers. Days in UTC, amounts in USD. Test traffic is excluded."
    />
  )
}
