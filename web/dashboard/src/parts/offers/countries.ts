// Countries by their names, as the browser knows them.
const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })

/** Regions that have a name but are no country of ISO 3166-1. */
const NOT_COUNTRIES = new Set('AC CP CQ DD DG EA EU EZ FX IC NT QO SU TA TP UK UN VD XA XB XK YD YU ZR ZZ AN BU CS DY HV NH RH WK'.split(' ')) // prettier-ignore

export type Choice = { value: string; label: string }

export const countryName = (code: string): string => {
  const name = /^[A-Z]{2}$/.test(code) ? names.of(code) : undefined
  return name ?? code
}

let choices: Choice[] | null = null

export function countryChoices(): Choice[] {
  const letters = Array.from({ length: 26 }, (_, place) => String.fromCharCode(65 + place))
  choices ??= letters
    .flatMap((first) => letters.map((second) => first + second))
    .filter((code) => !NOT_COUNTRIES.has(code))
    .flatMap((value) => {
      const label = names.of(value)
      return label === undefined ? [] : [{ value, label: `${label} (${value})` }]
    })
    .toSorted((a, b) => a.label.localeCompare(b.label))
  return choices
}
