// How a feed is asked for, as data. `{name}` stands for a credential of the feed, `{timestamp}` for Unix seconds.

export type RequestTemplate = {
  method: 'GET' | 'POST'
  url: string
  query?: Record<string, string>
  headers?: Record<string, string>
  json?: Record<string, unknown>
  form?: Record<string, string>
}

export type Auth =
  | { kind: 'basic'; user: string; password: string }
  | { kind: 'bearer'; token: string }
  /** Another request first, whose answer has a token that then stands as a bearer, and is asked for again before it expires. */
  | { kind: 'exchange'; request: RequestTemplate; token: string; lives_s: number }
  /** A hash of these parts, one after the other, as a query parameter. */
  | { kind: 'signature'; parameter: string; hash: 'md5' | 'sha1' | 'sha256'; of: string[] }

/** Where the parameters of a page are sent; in the query if it is not said. */
type Place = { in?: 'query' | 'body' }

export type Paging =
  | { kind: 'one' }
  /** Until as many offers came as `total` says, or as many pages as `pages` says; without either until an empty page. */
  | ({
      kind: 'page'
      parameter: string
      first: number
      size?: { parameter: string; value: number }
      total?: string
      pages?: string
    } & Place) // prettier-ignore
  | ({ kind: 'offset'; parameter: string; size: { parameter: string; value: number }; total?: string } & Place)
  /** The answer has the URL of the next one, on the same host. */
  | { kind: 'next'; path: string }

export type FeedRequest = RequestTemplate & {
  auth?: Auth
  paging: Paging
  /** Between two requests. */
  pause_ms?: number
}

/** What the operator enters for a feed. `secret` ones are never shown again. */
export type CredentialField = { name: string; label: string; hint?: string; secret: boolean }

/** A request, and what it is filled with. */
type Filled = { request: FeedRequest; credentials: Readonly<Record<string, string>> }

/** Whether a request goes where the other one does, also where a credential names the host. Stored credentials are not sent anywhere else. */
export const hasSameHosts = (one: Filled, other: Filled): boolean =>
  hostsOf(one).every((host) => hostsOf(other).includes(host))

const hostsOf = ({ request: { url, auth }, credentials }: Filled) =>
  [url, ...(auth?.kind === 'exchange' ? [auth.request.url] : [])].map((one) =>
    one
      .split(/[/?#]/)
      .slice(0, 3)
      .join('/')
      .replaceAll(/\{(\w+)\}/g, (all, name: string) =>
        Object.hasOwn(credentials, name) ? String(credentials[name]) : all,
      )
      .toLowerCase(),
  )
