// What a user sees when a link does not lead on: plain pages that say what happened and what to do.
import type { HiddenReason } from '../offers/catalogue.ts'

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

type Explanation = { title: string; text: string; advice: string }

const BACK = 'Go back to where you found it and choose another offer.'
const GONE = { title: 'This offer has ended', text: 'It is no longer available.', advice: BACK }

const NOT_HERE = {
  title: 'This offer is not available here',
  text: 'The app or site where you found it no longer shows it.',
  advice: 'Go back and choose another offer.',
}

const EXPLANATIONS: Record<LinkProblem, Explanation> = {
  broken: {
    title: 'This link does not work',
    text: 'It is incomplete, or was changed on the way.',
    advice: 'Go back to where you found it and follow it from there.',
  },
  expired: {
    title: 'This link is too old',
    text: 'Links are valid for seven days.',
    advice: 'Go back to where you found it: there is a fresh one.',
  },
  withdrawn: GONE,
  paused: GONE,
  ended: GONE,
  not_started: {
    title: 'This offer has not started yet',
    text: 'It opens later.',
    advice: 'Until then, go back to where you found it and choose another offer.',
  },
  full: {
    title: 'This offer is full',
    text: 'So many people took part that there is no room left at the moment.',
    advice: BACK,
  },
  country: {
    title: 'This offer is not for your country',
    text: 'It is only available in other countries.',
    advice: BACK,
  },
  platform: {
    title: 'This offer is not for your device',
    text: 'It is only available on other devices.',
    advice: 'Open it on another device, or go back and choose another offer.',
  },
  content: NOT_HERE,
  reward: NOT_HERE,
  not_allowed: GONE,
  banned: {
    title: 'Offers are not available to you',
    text: 'The people who run these offers have closed them for you.',
    advice: 'If you think that is a mistake, ask where you found the offer.',
  },
  completed: { title: 'You have completed this offer', text: 'Each user can complete it once.', advice: BACK },
  daily_limit: {
    title: 'That is enough for today',
    text: 'You have completed as many offers as the app or site allows in a day.',
    advice: 'Come back tomorrow. What you started before still counts.',
  },
  busy: {
    title: 'Please try again',
    text: 'We could not record your visit right now.',
    advice: 'Wait a minute, then load this page again.',
  },
  too_many: {
    title: 'Too many visits',
    text: 'Links were followed from your network too often within a minute.',
    advice:
      'Wait a minute, then load this page again. If it keeps happening, try another network, such as mobile data.',
  },
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

export function explanationPage(problem: LinkProblem): string {
  const { title, text, advice } = EXPLANATIONS[problem]
  return `<!doctype html>
<html lang="en">
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
