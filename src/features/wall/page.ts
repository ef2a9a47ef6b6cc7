// The wall as a page, in one answer: style, texts, the first offers and the script. Nothing else has to be loaded before
// a user sees offers.
//
// Most of a page is the same for many visitors, so it is written and compressed once: the look of a wall in a language
// with its settings, a page of offers with the list it was cut from, the script with the build.
import { existsSync, readFileSync } from 'node:fs'
import { asciiJson } from '../../lib/ascii-json.ts'
import { compressPart, type Part, storePart } from '../../lib/gzip-parts.ts'
import { escapeHtml } from '../../lib/escape-html.ts'
import { createNonce } from '../../lib/nonce.ts'
import { projectPath } from '../../lib/project.ts'
import type { AppCredential } from '../apps/credentials.ts'
import type { Page as OfferPage } from '../offers/pages.ts'
import type { PageViewer } from './schema.ts'
import type { WallSettings } from './settings-schema.ts'
import { numberStyleOf } from './texts/numbers.ts'
import { directionOf, type Language } from '../../lib/languages.ts'
import { TEXTS } from './texts/texts.ts'
import { themeOf } from './theme.ts'

export type WallLook = { settings: WallSettings; language: Language; theme: WallSettings['theme'] }

export type WallPages = {
  /** Null when the wall's script was not built. */
  write(look: WallLook, credential: AppCredential, page: OfferPage, viewer: PageViewer): WrittenPage | null
}
export type WrittenPage = { parts: Part[]; nonce: string }

export function createWallPages(): WallPages {
  const files = readFiles()
  const looks = new WeakMap<WallSettings, Map<string, Part>>()
  const offers = new WeakMap<OfferPage, Part>()
  const script = compressPart(`${files?.script ?? ''}</script>\n</body>\n</html>\n`)

  function lookOf({ settings, language, theme }: WallLook, currency: string): Part {
    const known = looks.get(settings) ?? new Map<string, Part>()
    looks.set(settings, known)
    const key = `${language}|${theme}|${currency}`
    const part = known.get(key) ?? compressPart(writeLook(settings, language, currency, files?.style ?? ''))
    known.set(key, part)
    return part
  }

  function offersOf(page: OfferPage): Part {
    const part = offers.get(page) ?? compressPart(`<script type="application/json" id="offers">${inert(page.chunks.join(''))}</script>\n`) // prettier-ignore
    offers.set(page, part)
    return part
  }

  return {
    write(look, { currency }, page, viewer) {
      if (files === null) return null
      const nonce = createNonce()
      const { language, theme } = look
      const head = storePart(
        `<!doctype html>\n<html lang="${language}" dir="${directionOf(language)}" data-theme="${theme}">\n<head>\n<style nonce="${nonce}">`,
      )
      const known = storePart(
        `<script type="application/json" id="viewer">${inert(asciiJson(viewer))}</script>\n<script nonce="${nonce}">`,
      )
      return { parts: [head, lookOf(look, currency.name), offersOf(page), known, script], nonce }
    },
  }
}

/** From the style on to the texts. */
function writeLook(settings: WallSettings, language: Language, currency: string, style: string): string {
  const { logo, hero, currency_icon, title, intro, shows } = settings
  const [texts, numbers] = [TEXTS[language], numberStyleOf(language)]
  const known = { texts, language, numbers, currency, logo, hero, currency_icon, title, intro, shows }
  return `${themeOf(settings)}${style}</style>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title || TEXTS[language].title.replace('{currency}', currency))}</title>
</head>
<body>
<div id="wall"><noscript>${escapeHtml('This page needs JavaScript to show offers.')}</noscript></div>
<script type="application/json" id="look">${inert(asciiJson(known))}</script>
`
}

/** JSON that cannot end the element it stands in. */
const inert = (json: string) => json.replaceAll('<', '\\u003c')

function readFiles(): { script: string; style: string } | null {
  const [script, style] = ['wall.js', 'wall.css'].map((name) => projectPath(`web/dist/client/${name}`))
  if (!existsSync(script as string) || !existsSync(style as string)) return null
  return {
    script: readFileSync(script as string, 'utf8').replaceAll('</script', '<\\/script'),
    style: readFileSync(style as string, 'utf8'),
  }
}
