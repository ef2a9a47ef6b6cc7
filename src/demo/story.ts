// The lockers of the demo's site. A content locker before the second chapter of a story, which is on this server only: it
// is delivered for a proof that was redeemed. And a link locker, which is a page of the network.
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { AppError } from '../errors.ts'
import { checkProof } from '../features/lockers/proofs.ts'
import type { DemoSite } from './site.ts'

const CHAPTER_ONE =
  'The lighthouse of Pixel Harbor had not burned for eleven years when Ines found the key in a tin of nails. It was too small for any door she knew. She tried it anyway, one evening, on the cupboard under the stairs, and heard a lamp being lit far above her.'
const CHAPTER_TWO =
  'There was nobody at the top, only the lamp, and beside it a log book with today’s date. “Ship from the north,” said the last line, in her own handwriting. Ines looked out. Between the islands, without a light, a ship was turning towards the harbor.'

export const lockersSection = ({ app_id, lockers: { contentId, linkId, slug } }: DemoSite) => `<section>
<h2>Unlock more</h2>
<ul>
<li><a href="/demo/story">The lighthouse, a story in two chapters</a> <small>Content locker · <a href="/apps/${app_id}/lockers/${contentId}">in the dashboard</a></small></li>
<li><a href="/l/${slug}">Wallpapers of Pixel Harbor</a> <small>Link locker · <a href="/apps/${app_id}/lockers/${linkId}">in the dashboard</a></small></li>
</ul>
</section>`

export const storyBody = ({ app_id, lockers: { contentId } }: DemoSite) => `<header>
<h1>The lighthouse</h1>
<a href="/demo">Pixel Harbor</a>
</header>
<section>
<h2>Chapter one</h2>
<p>${CHAPTER_ONE}</p>
</section>
<section>
<h2>Chapter two</h2>
<offer-locker locker="${contentId}" title="Read chapter two"></offer-locker>
<p id="chapter"></p>
<p role="status" id="result"></p>
</section>
<p class="soft">Chapter two is not in this page. When the locker is unlocked, the page gets a proof; this site’s server verifies its signature, redeems it, and only then delivers the chapter. The same in the dashboard: <a href="/apps/${app_id}/lockers/${contentId}">the locker</a>, <a href="/apps/${app_id}/conversions">conversions</a>.</p>
<script src="/locker/v1.js"></script>`

export const STORY_SCRIPT = `
addEventListener('unlocked', async ({ detail: { proof } }) => {
  const answer = await fetch('/demo/chapter', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ proof }) })
  const { chapter = '', error } = await answer.json()
  document.getElementById('chapter').textContent = chapter
  document.getElementById('result').textContent = error === undefined ? 'Delivered by this site’s server for a proof that was redeemed.' : error.message
})
`

/** As a publisher's server does it: from outside, with the API secret. */
export function chapterRoute(server: FastifyInstance, { lockers, ...site }: DemoSite): void {
  const lockerId = lockers.contentId
  server.post<{ Body: { proof: string } }>(
    '/demo/chapter',
    { schema: { hide: true, body: Type.Object({ proof: Type.String({ maxLength: 300 }) }) } },
    async ({ body: { proof } }, reply) => {
      const checked = checkProof([site.signing_secret], proof, Math.floor(Date.now() / 1000))
      if (typeof checked === 'string' || checked.lockerId !== lockerId) throw refused('This is not a valid proof.')
      const answer = await server.inject({
        method: 'POST',
        url: `/api/v1/lockers/${lockerId}/redeem`,
        headers: { 'x-api-key': site.api_key, 'x-api-secret': site.api_secret },
        payload: { proof },
      })
      type Answer = { data?: { redeemed: boolean }; error?: { message: string } }
      const { data, error } = JSON.parse(answer.body) as Answer
      if (data === undefined) throw refused(error?.message ?? 'The proof could not be redeemed.')
      if (!data.redeemed) throw refused('This proof was used before. Load the page again.')
      return reply.header('Cache-Control', 'no-store').send({ chapter: CHAPTER_TWO })
    },
  )
}

const refused = (message: string) => new AppError('INVALID_REQUEST', message)
