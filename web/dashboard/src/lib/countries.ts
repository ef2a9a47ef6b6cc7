// Countries by their names, as the browser knows them. The server decides which codes there are.
const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })

/** Regions that are no countries of ISO 3166-1, and codes of countries that are no more. */
const OTHERS = new Set(
  'AC AN BU CP CQ CS CT DD DG DY EA EU EZ FQ FX HV IC JT MI NH NQ NT PC PU PZ QO QU RH SU TA TP UK UN VD WK XA XB XK YD YU ZR ZZ'.split(
    ' ',
  ),
)
const LETTERS = Array.from({ length: 26 }, (_, place) => String.fromCharCode(65 + place))

export const countryName = (code: string): string => (/^[A-Z]{2}$/.test(code) ? names.of(code) : undefined) ?? code

/** Where there is room for one, as in a list to choose from. */
export const nameWithCode = (code: string): string => `${countryName(code)} (${code})`

export const COUNTRIES: { value: string; label: string }[] = LETTERS.flatMap((first) =>
  LETTERS.map((second) => first + second),
)
  .filter((code) => !OTHERS.has(code) && names.of(code) !== undefined)
  .map((value) => ({ value, label: nameWithCode(value) }))
  .toSorted((a, b) => a.label.localeCompare(b.label))
