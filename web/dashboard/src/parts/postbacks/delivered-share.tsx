import { formatShare } from '../../lib/format.ts'
import { Explained } from '../reports/explained.tsx'

const MEANING =
  'Live postbacks of the last 24 hours that were received, of those attempted at least once. Retries of one postback count once; those still queued are not in it.'

/** The name of the figure, with the one definition of it. */
export const DeliveredLabel = ({ children }: { children: string }) => (
  <Explained meaning={MEANING}>{children}</Explained>
)

export function DeliveredShare({ delivered, failed }: { delivered: number; failed: number }) {
  if (delivered + failed === 0) return <>–</>
  return <>{formatShare(delivered / (delivered + failed))}</>
}
