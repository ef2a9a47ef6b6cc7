// The requests of the load, as bytes: kinds, how often each comes in the mix, and what is random in them.
import { readFileSync } from 'node:fs'

export const KINDS = ['list', 'click', 'wall', 'report'] as const
export type Kind = (typeof KINDS)[number]
export type Load = Kind | 'mix'

/** How many of a hundred requests of the mix are of which kind. */
export const MIX: Record<Kind, number> = { list: 80, click: 15, wall: 3, report: 2 }

/** What another status means was not asked for: a page that says why a link does not lead on would be cheaper. */
export const EXPECTED: Record<Kind, number> = { list: 200, click: 302, wall: 200, report: 201 }

/** The files have a line each: filters, links with their browser after a tab, and offers to report. */
export type Sources = {
  port: number
  apiKey: string
  apiSecret: string
  filters: string
  links: string
  offers: string
  /** No other run has it: users of reports are new in every run. */
  run: string
}

const WALL_AGENT = 'Mozilla/5.0 (X11; Linux x86_64) Chrome/150.0'
const USERS = 1_000_000_000

const pick = (count: number) => Math.floor(Math.random() * count)
const readLines = (file: string) => readFileSync(file, 'utf8').trimEnd().split('\n')

/** A public IP address: users come from addresses of their own, and the server believes its proxy. */
const pickAddress = () => `${11 + pick(80)}.${pick(256)}.${pick(256)}.${1 + pick(254)}`

export function createWriter({ port, apiKey, apiSecret, run, ...files }: Sources): (kind: Kind) => string {
  const host = `Host: 127.0.0.1:${port}`
  const lists = readLines(files.filters).map((filter) => `GET /api/v1/offers?apiKey=${apiKey}&apiSecret=${apiSecret}&${filter}&userId=user-`) // prettier-ignore
  const clicks = readLines(files.links).map((line) => {
    const [path, agent] = line.split('\t')
    return `GET ${path} HTTP/1.1\r\n${host}\r\nUser-Agent: ${agent}\r\nAccept: text/html\r\nX-Forwarded-For: `
  })
  const offers = readLines(files.offers)
  const wall = `GET /wall?apiKey=${apiKey}&platform=web&country=US&userId=user-`
  const wallHeaders = ` HTTP/1.1\r\n${host}\r\nAccept-Encoding: gzip\r\nUser-Agent: ${WALL_AGENT}\r\nX-Forwarded-For: `
  const report = `POST /v1/conversions HTTP/1.1\r\n${host}\r\nX-API-Key: ${apiKey}\r\nX-API-Secret: ${apiSecret}\r\nContent-Type: application/json\r\nContent-Length: ` // prettier-ignore
  let reported = 0
  const writers: Record<Kind, () => string> = {
    list: () => `${lists[pick(lists.length)]}${pick(USERS)} HTTP/1.1\r\n${host}\r\n\r\n`,
    click: () => `${clicks[pick(clicks.length)]}${pickAddress()}\r\n\r\n`,
    wall: () => `${wall}${pick(USERS)}${wallHeaders}${pickAddress()}\r\n\r\n`,
    report() {
      const body = `{"userId":"user-${run}-${++reported}","offerId":${offers[pick(offers.length)]}}`
      return `${report}${body.length}\r\n\r\n${body}`
    },
  }
  return (kind) => writers[kind]()
}

/** Kinds in random order, as often as the load says. */
export function createChooser(load: Load): () => Kind {
  if (load !== 'mix') return () => load
  const hundred = KINDS.flatMap((kind) => Array.from({ length: MIX[kind] }, () => kind))
  return () => hundred[pick(hundred.length)] ?? 'list'
}
