// An OpenTelemetry collector, as far as OTLP/HTTP goes: it takes spans as JSON, and can misbehave.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before } from 'node:test'

type Value = { stringValue?: string; intValue?: number | string; boolValue?: boolean }
type Attribute = { key: string; value: Value }
type SentLink = { traceId: string; spanId: string; flags?: number }
type SentSpan = {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: Attribute[]
  links?: SentLink[]
  status: { code: number }
}
type Export = {
  resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: SentSpan[] }[] }[]
}

export type CollectedSpan = Omit<SentSpan, 'attributes' | 'links'> & {
  attributes: Record<string, string | number | boolean>
  resource: Record<string, string | number | boolean>
  links: SentLink[]
}

const accept = (response: ServerResponse) => response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}')

export class Collector {
  readonly spans: CollectedSpan[] = []
  /** Everything that came, as text. */
  received = ''
  exports = 0
  headers: IncomingMessage['headers'] = {}
  /** What it answers to an export; also whether it takes the spans. */
  answer: (response: ServerResponse) => unknown = accept
  readonly #server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('error', () => {})
    request.on('data', (part: string) => (text += part))
    request.on('end', () => {
      this.exports++
      this.headers = request.headers
      if (this.answer === accept && request.url === '/v1/traces') this.#take(text)
      this.answer(response)
    })
  })

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  behave(): void {
    this.answer = accept
  }

  async open(): Promise<void> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done))
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((done) => this.#server.close(done))
  }

  named(name: string): CollectedSpan[] {
    return this.spans.filter((span) => span.name === name)
  }

  #take(text: string): void {
    this.received += text
    for (const { resource, scopeSpans } of (JSON.parse(text) as Export).resourceSpans)
      for (const { spans } of scopeSpans)
        for (const { attributes, links = [], ...span } of spans)
          this.spans.push({ ...span, links, attributes: plain(attributes), resource: plain(resource.attributes) })
  }
}

const plain = (attributes: Attribute[]) =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? value.boolValue ?? Number(value.intValue)]),
  )

export function useCollector(): Collector {
  const collector = new Collector()
  before(() => collector.open())
  after(() => collector.close())
  return collector
}
