// Which rows of the log of API requests name a user. They are compared by whole values: a short ID is part of many texts.
import { cleanText, MAX_BODY, MAX_PATH, MAX_VALUE } from './request-log.ts'

export type LoggedRequest = {
  logged_id: string
  path: string
  parameters: Record<string, string | string[]>
  body: string | null
}

/** Also under a misspelt name, which is what the log is there for. */
const IS_NAME = /user/i
const CUT = '…'

export const isAbout = ({ path, parameters, body }: LoggedRequest, userId: string): boolean =>
  Object.entries(parameters).some(
    ([name, value]) => IS_NAME.test(name) && [value].flat().includes(cleanText(userId, MAX_VALUE)),
  ) ||
  path.split('/').some((part) => isPart(part, userId, path.length >= MAX_PATH)) ||
  (body !== null && isInBody(body, userId))

/** A path without the user. */
export const cutPath = (path: string, userId: string): string =>
  path
    .split('/')
    .map((part) => (isPart(part, userId, path.length >= MAX_PATH) ? CUT : part))
    .join('/')

function isPart(part: string, userId: string, mayBeCut: boolean): boolean {
  if (part === userId || part === encodeURIComponent(userId) || decode(part) === userId) return true
  if (!mayBeCut || !part.endsWith(CUT) || part.length < 2) return false
  return [userId, encodeURIComponent(userId)].some((text) => text.startsWith(part.slice(0, -1)))
}

function decode(part: string): string | null {
  try {
    return decodeURIComponent(part)
  } catch {
    return null
  }
}

function isInBody(body: string, userId: string): boolean {
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === 'object' && value !== null && Object.entries(value).some(([name, one]) => IS_NAME.test(name) && String(one) === userId) // prettier-ignore
  } catch {
    return body.length >= MAX_BODY && body.includes(JSON.stringify(userId)) // it was cut
  }
}
