// How an offer's words are shown, and what can be chosen of them.
import { countryName } from '../../lib/countries.ts'

const FEW = 3

/** All of them, or the first and how many more. */
export function formatCountries(codes: string[]): string {
  if (codes.length === 0) return 'Everywhere'
  const shown = codes.slice(0, FEW).join(', ')
  return codes.length > FEW ? `${shown} and ${codes.length - FEW} more` : shown
}
export const formatAllCountries = (codes: string[]) =>
  codes.length === 0 ? 'Everywhere' : codes.map(countryName).join(', ')
