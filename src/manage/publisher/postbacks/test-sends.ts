// Test sends: made-up postbacks that show whether an app's server handles each correctly.
import { presentAttempt, readAttempts } from '../../../features/postbacks/postbacks.ts'
import {
  limitTestSends,
  readTestSends,
  SCENARIO_NAMES,
  startTestSends,
} from '../../../features/postbacks/test-sends.ts'
import { isUuid } from '../../../lib/uuid7.ts'
import type { ManageContext } from '../../context.ts'
import { notThere } from '../../gate.ts'
import type { ManageRoutes } from '../../route.ts'
import { AppParams } from '../../shapes.ts'
import { NewTestSends, TAG, TestSends, TestSendsParams } from './schema.ts'

export function testSendRoutes(routes: ManageRoutes, { db, limiter, wakePostbacks }: ManageContext): void {
  routes.post('/apps/:app_id/postback/tests', {
    id: 'startPostbackTest',
    summary: 'Send test postbacks',
    about: 'Sends sample postbacks, marked `is_test`, to the saved endpoint.',
    tag: TAG,
    access: 'publisher',
    params: AppParams,
    body: NewTestSends,
    reply: TestSends,
    async run({ app: { appId }, body: { mode = 'live', scenarios = SCENARIO_NAMES }, by }) {
      await limitTestSends(limiter, appId)
      const testId = await startTestSends(db, by, { appId, isTest: mode === 'test' }, scenarios, new Date())
      wakePostbacks()
      return read(appId, testId)
    },
  })

  routes.get('/apps/:app_id/postback/tests/:test_id', {
    id: 'getPostbackTestOfApp',
    summary: 'Get the result of test postbacks',
    about: 'How your server responded to each sample postback, with every attempt.',
    tag: TAG,
    access: 'publisher',
    params: TestSendsParams,
    reply: TestSends,
    run: ({ app, params }) => read(app.appId, params.test_id),
  })

  async function read(appId: number, testId: string) {
    if (!isUuid(testId)) throw notThere('No test of this app has this ID.')
    const test =
      (await readTestSends(db, testId, { appId, isTest: false })) ??
      (await readTestSends(db, testId, { appId, isTest: true }))
    if (test === null) throw notThere('No test of this app has this ID.')
    const ids = test.results.flatMap(({ postbacks }) => postbacks.map((one) => one.postback_id))
    const attempts = Map.groupBy(await readAttempts(db, ...ids), (attempt) => attempt.postback_id)
    const results = test.results.map(({ postbacks, ...result }) => ({
      ...result,
      postbacks: postbacks.map((one) => ({
        ...one,
        tries: (attempts.get(one.postback_id) ?? []).map(presentAttempt),
      })),
    }))
    return { ...test, results }
  }
}
