// What a user sees when a link does not lead on: plain pages that say what happened and what to do.
import type { OfferFault } from '../offers/catalogue.ts'

export type LinkProblem = OfferFault | 'broken' | 'expired' | 'withdrawn' | 'completed' | 'busy'

type Explanation = { title: string; text: string }

const BACK = 'Go back to where you found it and choose another offer.'
const GONE = { title: 'This offer has ended', text: `It is no longer available. ${BACK}` }

const EXPLANATIONS: Record<LinkProblem, Explanation> = {
  broken: {
    title: 'This link does not work',
    text: 'It is incomplete, or was changed on the way. Go back to where you found it and follow it from there.',
  },
  expired: {
    title: 'This link is too old',
    text: 'A link is good for seven days. Go back to where you found it: there is a fresh one.',
  },
  withdrawn: GONE,
  paused: GONE,
  ended: GONE,
  not_started: { title: 'This offer has not started yet', text: `Come back later. ${BACK}` },
  full: {
    title: 'This offer is full',
    text: `So many people took part that there is no room left at the moment. ${BACK}`,
  },
  country: { title: 'This offer is not for your country', text: `It runs elsewhere only. ${BACK}` },
  platform: {
    title: 'This offer is not for your device',
    text: 'It runs on other devices only. Open it on another device, or choose another offer.',
  },
  content: {
    title: 'This offer is not available here',
    text: 'The place where you found it does not show it any more. Go back and choose another offer.',
  },
  completed: { title: 'You have completed this offer', text: `It can be done once. ${BACK}` },
  busy: { title: 'Please try again', text: 'We could not take note of your visit just now. Try again in a minute.' },
}

export function explanationPage(problem: LinkProblem): string {
  const { title, text } = EXPLANATIONS[problem]
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="icon" href="/icon.svg">
<link rel="stylesheet" href="/welcome.css">
</head>
<body>
<main>
<h1>${title}</h1>
<p class="lead">${text}</p>
</main>
</body>
</html>
`
}
