import { Text, Tooltip } from '@mantine/core'
import { formatAgo, formatSince, formatTime, formatUtc } from '../lib/format.ts'

type TimeProps = { at: string | null; ago?: boolean; since?: boolean; none?: string }

/** In the viewer's own zone; in UTC on hover. `ago`: 3 minutes ago. `since`: 3 min, for how long something lasts. */
export function Time({ at, ago = false, since = false, none = '–' }: TimeProps) {
  if (at === null)
    return (
      <Text component="span" inherit>
        {none}
      </Text>
    )
  const utc = formatUtc(at)
  return (
    <Tooltip
      label={ago || since ? `${formatTime(at)} · ${utc}` : utc}
      events={{ hover: true, focus: true, touch: true }}
    >
      <Text component="time" dateTime={at} inherit tabIndex={0}>
        {since ? formatSince(at) : ago ? formatAgo(at) : formatTime(at)}
      </Text>
    </Tooltip>
  )
}
