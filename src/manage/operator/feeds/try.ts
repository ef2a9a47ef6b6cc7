// A mapping beside a live answer, before anything is saved.
import { AppError, badRequest, InvalidInput, NoSuch } from '../../../errors.ts'
import { type FeedRequest, hasSameHosts } from '../../../features/feeds/feed-request.ts'
import { FEED_DEFAULTS, readSettings } from '../../../features/feeds/feed-settings.ts'
import { readFeed } from '../../../features/feeds/feeds.ts'
import { FetchProblem } from '../../../features/feeds/fetch-page.ts'
import { ELSEWHERE } from '../../../features/feeds/given-feed.ts'
import { checkMapping, checkRequest } from '../../../features/feeds/mapping/check.ts'
import type { Mapping } from '../../../features/feeds/mapping/mapping.ts'
import { fetchSample, tryMapping } from '../../../features/feeds/try-mapping.ts'
import { createGuardedOpener } from '../../../features/postbacks/app-sender.ts'
import { loadRates } from '../../../features/rates/rates.ts'
import type { ManageContext } from '../../context.ts'
import { notThere } from '../../gate.ts'
import type { ManageRoutes } from '../../route.ts'
import { Sample, SampleOf, TriedMapping, TryMapping } from './schema.ts'
import { tryFields } from './try-fields.ts'

const TAG = 'Feeds'
const MAX_ANSWER = 5_000_000

export function tryRoutes(routes: ManageRoutes, { db, config, secretKey }: ManageContext): void {
  const open = createGuardedOpener(config)

  routes.post('/feeds/sample', {
    id: 'fetchFeedSample',
    summary: 'Fetch the first page of a feed',
    about: 'The network’s response, shortened. Nothing is stored.',
    tag: TAG,
    access: 'operator',
    sensitive: true,
    body: SampleOf,
    reply: Sample,
    async run({ body }) {
      const stored = body.feed_id === undefined ? null : await find(body.feed_id)
      const request = body.request as unknown as FeedRequest
      const problems = checkRequest(request, Object.keys({ ...stored?.credentials, ...body.credentials }))
      if (problems.length > 0) throw new InvalidInput(problems)
      const filled = { request, credentials: { ...stored?.credentials, ...body.credentials } }
      const isKnown = stored !== null && hasSameHosts(filled, stored)
      const credentials = { ...(isKnown ? stored.credentials : {}), ...body.credentials }
      if (checkRequest(request, Object.keys(credentials)).length > 0) throw badRequest({ credentials: ELSEWHERE })
      try {
        return { answer: await fetchSample(open, request, credentials) }
      } catch (error) {
        throw error instanceof FetchProblem ? new AppError('INVALID_REQUEST', error.message) : error
      }
    },
  })

  routes.post('/feeds/try-mapping', {
    id: 'tryFeedMapping',
    summary: 'Try a mapping on a response',
    about:
      'What each field reads from the first offers, the resulting offers, and problems of the mapping. Nothing is stored.',
    tag: TAG,
    access: 'operator',
    changesNothing: true,
    bodyLimit: MAX_ANSWER,
    body: TryMapping,
    reply: TriedMapping,
    async run({ body: { mapping, answer, settings } }) {
      const found = checkMapping(mapping)
      const fields = tryFields(mapping, found, answer)
      const problems = found.map(({ field, message }) => ({ place: field.replace(/^mapping\.?/, ''), message }))
      if (problems.length > 0) return { problems, fields, offers: [] }
      const { rateOf } = await loadRates(db, new Date())
      const offers = tryMapping(
        mapping as unknown as Mapping,
        answer,
        readSettings(settings, FEED_DEFAULTS, 'settings.'),
        rateOf,
      )
      return { problems, fields, offers }
    },
  })

  const find = async (feedId: number) => {
    try {
      return await readFeed(db, secretKey, feedId)
    } catch (error) {
      throw error instanceof NoSuch ? notThere('There is no such feed.') : error
    }
  }
}
