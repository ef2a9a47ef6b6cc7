import type { Schemas } from '../../lib/api-types.ts'

export type WallSettings = Schemas['WallSettings']
export type WalledApp = Schemas['App']

export function wallUrl({ credentials, api_url }: WalledApp, userId: string): string {
  const key = credentials.find(({ mode }) => mode === 'live')?.api_key ?? ''
  return `${new URL(api_url).origin}/wall?apiKey=${key}&userId=${userId}`
}

/** A button that opens the wall over the page. */
export function scriptCode({ credentials, api_url }: WalledApp, sdk: Schemas['WallSdk']): string {
  const key = credentials.find(({ mode }) => mode === 'live')?.api_key ?? ''
  return `<button id="earn">Earn</button>
<script src="${new URL(api_url).origin}${sdk.path}" integrity="${sdk.integrity}" crossorigin="anonymous"></script>
<script>
  document.getElementById('earn').onclick = () => {
    const wall = Offerdeck.open({ apiKey: '${key}', userId: 'USER_ID' })
    wall.on('credited', ({ reward }) => console.log('credited', reward))
  }
</script>`
}

/** The contrast of two colors by WCAG 2: 4.5 is readable. */
export function contrastOf(one: string, other: string): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b)
  return (high + 0.05) / (low + 0.05)
}

function luminance(color: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const part = parseInt(color.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

export const READABLE = 4.5
/** For what is not text, such as the edge of a button. */
export const VISIBLE = 3

/** What is hard to read in a palette. */
export function contrastProblems({ accent, background, card, text }: WallSettings['light']): string[] {
  const pairs = [
    ['Text on the background', text, background, READABLE],
    ['Text on cards', text, card, READABLE],
    ['Buttons on cards', accent, card, VISIBLE],
    ['Buttons on the background', accent, background, VISIBLE],
  ] as const
  return pairs.flatMap(([name, one, other, least]) => {
    const contrast = contrastOf(one, other)
    return Number.isNaN(contrast) || contrast >= least
      ? []
      : [`${name}: contrast ${contrast.toFixed(1)}, needs ${least}.`]
  })
}
