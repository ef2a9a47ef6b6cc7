import { Tooltip } from '@mantine/core'
import { formatShare } from '../../lib/format.ts'

const MEANING =
  'Live postbacks of the last 24 hours that were received, of those attempted at least once. Retries of one postback count once.'

export function DeliveredShare({ delivered, failed }: { delivered: number; failed: number }) {
  if (delivered + failed === 0) return <>–</>
  return (
    <Tooltip label={MEANING} multiline maw={320}>
      <span>{formatShare(delivered / (delivered + failed))}</span>
    </Tooltip>
  )
}
