import { Text } from '@mantine/core'
import type { Schemas } from '../../lib/api-types.ts'
import { Status } from '../status.tsx'
import { explainReason } from './words.ts'

type Conversion = Pick<Schemas['AdvertiserConversion'], 'status' | 'status_reason'>

export const StatusWithReason = ({ status, status_reason }: Conversion) => (
  <>
    <Status value={status} />
    {status_reason !== null && (
      <Text size="xs" c="dimmed">
        {explainReason(status_reason)}
      </Text>
    )}
  </>
)
