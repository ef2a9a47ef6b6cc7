import { Text, Tooltip } from '@mantine/core'
import { formatAgo, formatTime, formatUtc } from '../lib/format.ts'

type TimeProps = { at: string | null; ago?: boolean; none?: string }

/** In the viewer's own zone; in UTC on hover. */
export function Time({ at, ago = false, none = '–' }: TimeProps) {
  if (at === null)
    return (
      <Text component="span" inherit>
        {none}
      </Text>
    )
  const utc = formatUtc(at)
  return (
    <Tooltip label={ago ? `${formatTime(at)} · ${utc}` : utc} events={{ hover: true, focus: true, touch: true }}>
      <Text component="time" dateTime={at} inherit tabIndex={0}>
        {ago ? formatAgo(at) : formatTime(at)}
      </Text>
    </Tooltip>
  )
}
