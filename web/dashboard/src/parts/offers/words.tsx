// Where an offer runs and on what, in the same words on every page.
import { countryName } from '../../lib/countries.ts'
import { labelOf, PLATFORMS } from '../../lib/words.ts'

const FEW = 3

/** All of them, or the first and how many more, with their names on hover. */
export function Countries({ codes }: { codes: string[] }) {
  if (codes.length === 0) return 'Everywhere'
  const few = codes.length > FEW + 1 ? codes.slice(0, FEW) : codes
  const more = codes.length - few.length
  return <span title={formatAllCountries(codes)}>{few.join(', ') + (more > 0 ? ` and ${more} more` : '')}</span>
}

export const formatAllCountries = (codes: string[]) =>
  codes.length === 0 ? 'Everywhere' : codes.map(countryName).join(', ')

export const formatPlatforms = (platforms: string[]) => platforms.map((name) => labelOf(PLATFORMS, name)).join(', ')
