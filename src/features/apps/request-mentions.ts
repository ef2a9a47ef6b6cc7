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
  isInPath(path, userId) ||
  (body !== null && isInBody(body, userId))

/** The one place of a path that names a user. The words around it may be IDs of users, too. */
const OF_USER = /^((?:\/api)?\/v1\/users\/)([^/]+)/

const isInPath = (path: string, userId: string): boolean =>
  isPart(OF_USER.exec(path)?.[2] ?? '', userId, path.length >= MAX_PATH)

/** A path without the user. */
export const cutPath = (path: string, userId: string): string =>
  isInPath(path, userId) ? path.replace(OF_USER, `$1${CUT}`) : path

function isPart(part: string, userId: string, mayBeCut: boolean): boolean {
  if (part === '') return false
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
    return body.length >= MAX_BODY && isInCutBody(body, userId)
  }
}

const MEMBER = /"((?:[^"\\]|\\.)*)":("(?:[^"\\]|\\.)*"|[^,}]+)/g

const isInCutBody = (body: string, userId: string): boolean =>
  body.matchAll(MEMBER).some(([, name = '', value]) => IS_NAME.test(name) && (value === JSON.stringify(userId) || value === userId)) // prettier-ignore
