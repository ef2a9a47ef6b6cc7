// Who the client is, as the proxies in front say in X-Forwarded-For. Some write a port behind the address, some a word
// ("unknown") in place of one, and some pass on whatever the client sent.
import { addressWords, plainAddress } from '../lib/ip-address.ts'

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
