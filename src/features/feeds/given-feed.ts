// A feed as people and programs give it. Throws an InvalidInput with everything that is wrong.
import { InvalidInput, OperatorError, type Problem } from '../../errors.ts'
import { type FeedRequest, hasSameHosts } from './feed-request.ts'
import { FEED_DEFAULTS, type GivenSettings, readSettings } from './feed-settings.ts'
import type { Feed, FeedChange, FeedKind, NewFeed } from './feeds.ts'
import { checkMapping, checkRequest } from './mapping/check.ts'
import type { Mapping } from './mapping/mapping.ts'
import { presetOf } from './presets/presets.ts'

/** A preset, or a request and a mapping. */
export type GivenFeed = {
  preset?: string
  request?: unknown
  mapping?: unknown
  credentials: Record<string, string>
  settings: Partial<GivenSettings>
}

/** Credentials go only to the host that they were given for. */
export const ELSEWHERE = 'The request now goes to another host: enter the credentials again.'

export function readNewFeed(given: GivenFeed): Pick<NewFeed, 'kind' | 'credentials' | 'settings'> {
  const { credentials } = given
  const preset = given.preset === undefined ? undefined : presetOf(given.preset)
  const kind = readKind(given)
  const problems =
    preset === undefined
      ? []
      : checkNames(
          preset.credentials.map(({ name }) => name),
          credentials,
        )
  if (problems.length > 0) throw new InvalidInput(problems)
  const defaults = preset === undefined ? {} : { currency: preset.currency, every: preset.every }
  return { kind, credentials, settings: readSettings({ ...defaults, ...given.settings }, FEED_DEFAULTS, 'settings.') }
}

/** What is not given stays. */
export function readFeedChange(feed: Feed, given: Partial<GivenFeed> & { name?: string }): FeedChange {
  const credentials = given.credentials === undefined ? undefined : { ...feed.credentials, ...given.credentials }
  const isOwn = given.request !== undefined || given.mapping !== undefined
  if (isOwn && feed.preset !== null) throw new OperatorError('This feed uses the request and mapping of its preset.', 'mapping') // prettier-ignore
  const own = isOwn ? readOwn(given.request ?? feed.request, given.mapping ?? feed.mapping, Object.keys(credentials ?? feed.credentials)) : undefined // prettier-ignore
  const request = own?.request ?? feed.request
  const isElsewhere = !hasSameHosts({ request, credentials: credentials ?? feed.credentials }, feed)
  if (isElsewhere && checkRequest(request, Object.keys(given.credentials ?? {})).length > 0) throw new OperatorError(ELSEWHERE, 'credentials') // prettier-ignore
  return {
    ...(given.name === undefined ? {} : { name: given.name.trim() }),
    ...(given.settings === undefined ? {} : { settings: readSettings(given.settings, feed.settings, 'settings.') }),
    ...(isElsewhere ? { credentials: given.credentials ?? {} } : credentials === undefined ? {} : { credentials }),
    ...(own === undefined ? {} : { own }),
  }
}

function readKind({ preset, request, mapping, credentials }: GivenFeed): FeedKind {
  if (preset === undefined) return readOwn(request, mapping, Object.keys(credentials))
  if (presetOf(preset) === undefined) throw new OperatorError(`There is no preset "${preset}".`, 'preset')
  if (request !== undefined || mapping !== undefined) throw new OperatorError('Give either a preset, or a request and a mapping.', 'preset') // prettier-ignore
  return { preset }
}

function readOwn(
  request: unknown,
  mapping: unknown,
  credentials: string[],
): { request: FeedRequest; mapping: Mapping } {
  const problems = [...checkRequest(request, credentials), ...checkMapping(mapping)]
  if (problems.length > 0) throw new InvalidInput(problems)
  return { request: request as FeedRequest, mapping: mapping as Mapping }
}

const checkNames = (names: readonly string[], given: Record<string, string>): Problem[] => [
  ...names.filter((name) => (given[name] ?? '').trim() === '').map((name) => ({ field: `credentials.${name}`, message: 'Required.' })), // prettier-ignore
  ...Object.keys(given).filter((name) => !names.includes(name)).map((name) => ({ field: `credentials.${name}`, message: 'This network does not use this credential.' })), // prettier-ignore
]
