import ipaddr from 'ipaddr.js'

/** Whether an advertiser with this IP allowlist may call from this address. */
export function isAllowedFrom(allowed: readonly string[], ip: string): boolean {
  if (allowed.length === 0) return true
  if (!ipaddr.isValid(ip)) return false
  const address = ipaddr.process(ip)
  return allowed.some((text) => {
    const [range, bits] = ipaddr.isValidCIDR(text) ? ipaddr.parseCIDR(text) : [ipaddr.process(text), null]
    if (range.kind() !== address.kind()) return false
    return bits === null
      ? address.toString() === range.toString()
      : address.match([range, bits] as [ipaddr.IPv4, number])
  })
}
