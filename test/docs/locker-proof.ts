// A proof as a page gets it: a visitor of a new locker of the demo app completes an offer.
import assert from 'node:assert/strict'
import type { LockerState } from '../../src/features/lockers/schema.ts'
import type { Installation } from '../installation.ts'
import { BROWSER } from '../world.ts'

export async function earnProof(home: Installation, url: string): Promise<{ lockerId: number; proof: string }> {
  const { locker_id: lockerId } = await home.json<{ locker_id: number }>('locker', 'create', '--app', 'Demo app', '--name', 'Bonus chapter') // prettier-ignore
  const post = async <T>(path: string, body: object): Promise<T> => {
    const response = await fetch(`${url}${path}`, { method: 'POST', headers: { 'content-type': 'application/json', 'user-agent': BROWSER }, body: JSON.stringify(body) }) // prettier-ignore
    assert.ok(response.ok, `${path}: ${response.status}`)
    return (await response.json()) as T
  }
  const visit = async (known: object) => (await post<{ data: LockerState }>(`/locker/v1/lockers/${lockerId}/visits`, known)).data // prettier-ignore
  const { visitor, key, offers } = await visit({})
  let target = ''
  // Not all offers are of the demo's advertisers.
  for (const { link } of offers) {
    const { headers } = await fetch(link, { redirect: 'manual', headers: { 'user-agent': BROWSER } })
    target = headers.get('location') ?? ''
    if (target.startsWith(`${url}/demo/`)) break
  }
  const goal = Number(/data-goal="(\d+)"/.exec(await (await fetch(target)).text())?.[1])
  await post('/demo/confirm', { click: URL.parse(target)?.searchParams.get('click'), goal, action: 'complete' })
  const { proof } = await visit({ visitor, key })
  assert.ok(proof !== null, 'the locker is unlocked')
  return { lockerId, proof }
}
