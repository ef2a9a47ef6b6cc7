// How a figure differs from that of the previous period: with its sign and in words, never by color alone.
import { formatChange, formatPoints } from '../../lib/format.ts'
import { METRICS, type MetricName, showFigure } from './metrics.ts'

type Compared = { of: MetricName; now: number | null; before: number | null }

/** Null: there is nothing to compare. */
function differenceOf({ of, now, before }: Compared): { sign: string; words: string } | null {
  if (now === null && before === null) return null
  const [value, old] = [now ?? 0, before ?? 0]
  if (value === old) return { sign: '±0', words: 'unchanged' }
  const words = `${value > old ? 'up' : 'down'} from ${showFigure(of, before)}`
  if (METRICS[of].isShare === true) return { sign: `${formatPoints((value - old) * 100)} pts`, words }
  // Of nothing, or of a loss, there is no share.
  if (old <= 0) return { sign: value > old ? '+' : '−', words }
  return { sign: formatChange((value - old) / old), words }
}

/** For a tile: both. */
export function Difference(compared: Compared) {
  const difference = differenceOf(compared)
  if (difference === null) return '–'
  const { sign, words } = difference
  return sign.length === 1 ? capital(words) : `${sign}, ${words}`
}

const capital = (words: string) => words.charAt(0).toUpperCase() + words.slice(1)

/** For a cell of a table. */
export function ShortDifference(compared: Compared) {
  const difference = differenceOf(compared)
  if (difference === null) return null
  const { sign, words } = difference
  return sign.length === 1 ? words : <span title={capital(words)}>{sign}</span>
}
