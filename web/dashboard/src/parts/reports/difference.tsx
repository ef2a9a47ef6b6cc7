// How a figure differs from that of the previous period: with its sign and in words, never by color alone.
import { formatChange, formatPoints } from '../../lib/format.ts'
import { METRICS, type MetricName, showFigure } from './metrics.ts'

type Compared = { of: MetricName; now: number | null; before: number | null }

/** Null: there is nothing to compare. */
function differenceOf({ of, now, before }: Compared): { sign: string; words: string } | null {
  if (now === null && before === null) return null
  // Only what is divided by clicks can be missing.
  if (before === null) return { sign: '–', words: 'no clicks in the previous period' }
  if (now === null) return { sign: '–', words: `${showFigure(of, before)} in the previous period` }
  if (now === before) return { sign: '±0', words: 'unchanged' }
  const words = `${now > before ? 'up' : 'down'} from ${showFigure(of, before)}`
  if (METRICS[of].isShare === true) return { sign: `${formatPoints((now - before) * 100)} pts`, words }
  // Of nothing, or of a loss, there is no share.
  if (before <= 0) return { sign: now > before ? '+' : '−', words }
  return { sign: formatChange((now - before) / before), words }
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
  return sign === '+' || sign === '−' ? words : <span title={capital(words)}>{sign}</span>
}
