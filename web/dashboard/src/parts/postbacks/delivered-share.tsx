import { formatShare } from '../../lib/format.ts'
import { Explained } from '../reports/explained.tsx'

const MEANING =
  'Share of live postbacks attempted in the last 24 hours that were delivered. Retries of a postback count once; postbacks still queued for their first attempt are excluded.'

/** The name of the figure, with the one definition of it. */
export const DeliveredLabel = ({ children }: { children: string }) => (
  <Explained meaning={MEANING}>{children}</Explained>
)

export function DeliveredShare({ delivered, failed }: { delivered: number; failed: number }) {
  if (delivered + failed === 0) return <>–</>
  return <>{formatShare(delivered / (delivered + failed))}</>
}
