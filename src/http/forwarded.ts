// Who the client is, as the proxies in front say in X-Forwarded-For. Some write a port behind the address, some a word
// ("unknown") in place of one, and some pass on whatever the client sent.
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { addressWords, plainAddress } from '../lib/ip-address.ts'

declare module 'fastify' {
  interface FastifyRequest {
    knownIp: string | null
  }
}

/** The client's IP address, found once for each request: behind a proxy this means reading headers. */
export const ipOf = (request: FastifyRequest): string => (request.knownIp ??= request.ip)

/** What a request says of its visitor. `peer` is at the other end of the connection, perhaps a proxy. */
export const visitOf = (request: FastifyRequest): { ip: string; peer: string; headers: IncomingHttpHeaders } => ({
  ip: ipOf(request),
  peer: request.socket.remoteAddress ?? '',
  headers: request.headers,
})

const WITH_PORT = /^(?:\[([^\]]*)\](?::\d+)?|(\d+\.\d+\.\d+\.\d+):\d+)$/

/**
 * Addresses only, without ports. Each entry is vouched for by the one to its right: where that is not an address, nothing
 * further left is known.
 */
export function readForwarded(header: string): string {
  if (addressWords(header) !== null) return plainAddress(header) ?? ''
  const addresses: string[] = []
  for (const entry of header.split(',').toReversed()) {
    const text = entry.trim()
    const [, ipv6, ipv4 = text] = WITH_PORT.exec(text) ?? []
    const address = plainAddress(ipv6 ?? ipv4)
    if (address === null) break
    addresses.unshift(address)
  }
  return addresses.join(', ')
}
