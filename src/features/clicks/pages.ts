// What a user sees when a link does not lead on: plain pages that say what happened and what to do.
import { directionOf, type Language } from '../../lib/languages.ts'
import type { HiddenReason } from '../offers/hidden-reasons.ts'
import { LINK_TEXTS, type LinkTexts } from './link-texts.ts'

export type LinkProblem =
  | HiddenReason
  | 'broken'
  | 'expired'
  | 'withdrawn'
  | 'completed'
  | 'daily_limit'
  | 'banned'
  | 'busy'
  | 'too_many'

const SAID: Record<LinkProblem, keyof LinkTexts> = {
  broken: 'broken',
  expired: 'expired',
  withdrawn: 'gone',
  paused: 'gone',
  ended: 'gone',
  not_allowed: 'gone',
  not_started: 'not_started',
  full: 'full',
  country: 'country',
  platform: 'platform',
  content: 'not_here',
  reward: 'not_here',
  banned: 'banned',
  completed: 'completed',
  daily_limit: 'daily_limit',
  busy: 'busy',
  too_many: 'too_many',
}

export const STYLE_PATH = '/c/page.css'

export const STYLE = `:root { color-scheme: light dark; --ink: #17202a; --soft: #566370; --paper: #f4f6f9; --card: #fff; --line: #dfe4ea }
@media (prefers-color-scheme: dark) { :root { --ink: #eef2f6; --soft: #a6b2bf; --paper: #12161b; --card: #1b2128; --line: #2d3640 } }
body { margin: 0; background: var(--paper); color: var(--ink); font: 17px/1.5 system-ui, sans-serif }
main { box-sizing: border-box; width: calc(100% - 2rem); max-width: 32rem; margin: 16vh auto 2rem; padding: 2rem; background: var(--card); border: 1px solid var(--line); border-radius: 14px }
h1 { margin: 0 0 .75rem; font-size: 1.55rem; line-height: 1.25; letter-spacing: -.01em; text-wrap: balance }
p { margin: .5rem 0 0; text-wrap: pretty }
p.advice { color: var(--soft) }
`

export function explanationPage(problem: LinkProblem, language: Language): string {
  const [title, text, advice] = LINK_TEXTS[language][SAID[problem]]
  return `<!doctype html>
<html lang="${language}" dir="${directionOf(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="icon" href="/icon.svg">
<link rel="stylesheet" href="${STYLE_PATH}">
</head>
<body>
<main>
<h1>${title}</h1>
<p>${text}</p>
<p class="advice">${advice}</p>
</main>
</body>
</html>
`
}
