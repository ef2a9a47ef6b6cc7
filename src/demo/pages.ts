// The pages of the demo's companies: a publisher's site, and the place to which an advertiser's offer leads.
import { escapeHtml } from '../lib/escape-html.ts'

const STYLE = `
:root { color-scheme: light dark; --ink: #17202a; --soft: #566370; --paper: #f3f1ea; --card: #fff; --line: #d9d5c8; --accent: #0b6b50 }
@media (prefers-color-scheme: dark) { :root { --ink: #e8edf2; --soft: #a8b3be; --paper: #14181c; --card: #1d2329; --line: #38414a; --accent: #5fd0ae } }
* { box-sizing: border-box }
body { margin: 0; background: var(--paper); color: var(--ink); font: 17px/1.5 system-ui, sans-serif }
main { max-width: 680px; margin: 0 auto; padding: 24px 16px 64px }
header { display: flex; justify-content: space-between; align-items: center; gap: 16px; flex-wrap: wrap }
h1 { font-size: 1.6rem; margin: 0 }
h2 { font-size: 1.15rem; margin: 0 0 8px }
section { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 20px; margin-top: 20px }
.coins { font-size: 1.3rem; font-weight: 700 }
.soft, small { color: var(--soft) }
button, .button { display: inline-block; min-height: 44px; padding: 10px 20px; border: 0; border-radius: 10px; background: var(--accent); color: var(--card); font: inherit; font-weight: 600; cursor: pointer; text-decoration: none }
button.plain { background: none; color: var(--ink); border: 1px solid var(--line) }
a { color: var(--accent) }
ul { list-style: none; padding: 0; margin: 0 }
li { display: flex; justify-content: space-between; gap: 12px; padding: 10px 0; border-top: 1px solid var(--line); flex-wrap: wrap; align-items: center }
li:first-child { border-top: 0 }
.actions { display: flex; gap: 8px; flex-wrap: wrap }
[role=status] { min-height: 1.5em }
`

export type DemoPage = { title: string; body: string; script: string; nonce: string }

export const demoPage = ({ title, body, script, nonce }: DemoPage) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="/icon.svg">
<style nonce="${nonce}">${STYLE}</style>
</head>
<body>
<main>
${body}
</main>
<script src="/sdk/v1.js"></script>
<script nonce="${nonce}">${script}</script>
</body>
</html>
`

export const policyOf = (nonce: string) =>
  `default-src 'none'; script-src 'self' 'nonce-${nonce}'; style-src 'nonce-${nonce}'; img-src 'self' data:; connect-src 'self'; ` +
  "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

/** `more` is what else the site has. */
export const siteBody = (appId: number, more: string) => `<header>
<h1>Pixel Harbor</h1>
<span class="coins" aria-live="polite"><span id="coins">0</span> coins</span>
</header>
<p class="soft">A small example of a publisher’s site. It shows a wall of offers, and credits its users when a signed postback arrives at its own receiver. A story and a link are in lockers.</p>
<section>
<h2>Earn coins</h2>
<p>Choose an offer, complete it on the advertiser’s page, and watch the coins arrive.</p>
<button id="earn">Show offers</button>
</section>
<section>
<h2>What this site received</h2>
<ul id="credits"></ul>
<p class="soft" id="none">No postbacks yet. They appear here within a second or two of a completed offer.</p>
</section>
${more}
<p class="soft">The same in the dashboard: <a href="/apps/${appId}/conversions">conversions</a>, <a href="/apps/${appId}/postbacks">postbacks</a>, <a href="/apps/${appId}/wall">the wall’s settings</a>, <a href="/apps/${appId}/lockers">lockers</a>.</p>`

/** `wall` is what a publisher's server passes to its page: the public key, the user, and the signature of both. */
export const siteScript = (appId: number, wall: object) => `
const wall = ${JSON.stringify(wall).replaceAll('<', '\\u003c')}
document.getElementById('earn').onclick = () => Offerdeck.open({ ...wall, renew: async () => (await fetch('/demo/signature')).json() })
const list = document.getElementById('credits')
async function refresh() {
  const { coins, credits } = await (await fetch('/demo/state')).json()
  document.getElementById('coins').textContent = coins.toLocaleString()
  document.getElementById('none').hidden = credits.length > 0
  list.replaceChildren(...credits.map(({ coins, status, offer, conversion }) => {
    const item = document.createElement('li')
    const what = document.createElement('span')
    what.textContent = (coins >= 0 ? '+' : '') + coins.toLocaleString() + ' · ' + offer + ' (' + status + ', signature verified)'
    const link = document.createElement('a')
    link.href = '/apps/${appId}/conversions/' + encodeURIComponent(conversion)
    link.textContent = 'In the dashboard'
    item.append(what, link)
    return item
  }))
}
refresh()
setInterval(() => document.visibilityState === 'visible' && refresh().catch(() => {}), 1000)
`

export type DemoGoal = { goal_id: number; name: string; status: string | null }

export function advertiserBody(
  offer: { offer_id: number; name: string; requirements: string },
  goals: DemoGoal[],
): string {
  const items = goals.map(({ goal_id, name, status }) => {
    const button = (action: string, label: string, kind = '') =>
      `<button class="${kind}" data-goal="${goal_id}" data-action="${action}">${label}</button>`
    const actions =
      status === null || status === 'rejected' || status === 'reversed'
        ? button('complete', 'Complete') + (status === null ? button('fail', 'Fail', 'plain') : '')
        : button('reverse', 'Reverse', 'plain')
    return `<li><span>${escapeHtml(name)}${status === null ? '' : ` <small>${status}</small>`}</span><span class="actions">${actions}</span></li>`
  })
  return `<header><h1>${escapeHtml(offer.name)}</h1></header>
<p class="soft">You followed a tracked link to a demo advertiser. In a real network this is an app, a game or a survey; here you say what happens, and the advertiser’s server confirms it to Offerdeck.</p>
<section>
<h2>Goals</h2>
<ul>${items.join('')}</ul>
<p role="status" id="result"></p>
</section>
<p class="soft">Go back to the other tab to see the coins, or what you unlocked. For operators: <a href="/network/conversions?view=all&amp;offer_id=${offer.offer_id}">conversions of this offer</a>.</p>`
}

export const advertiserScript = (clickId: string) => `
for (const button of document.querySelectorAll('button[data-action]')) button.onclick = async () => {
  const { goal, action } = button.dataset
  const answer = await fetch('/demo/confirm', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ click: ${JSON.stringify(clickId)}, goal: Number(goal), action }) })
  const { message } = await answer.json()
  sessionStorage.setItem('result', message)
  location.reload()
}
document.getElementById('result').textContent = sessionStorage.getItem('result') ?? ''
sessionStorage.removeItem('result')
`
