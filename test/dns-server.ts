// A DNS server, over UDP and TCP, that answers as a test wants.
import { createSocket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { type AddressInfo, createServer, isIPv4 } from 'node:net'
import type { TestContext } from 'node:test'

/** What a family of a name has. `truncated`: more than a datagram takes, to be asked for again over TCP. */
export type DnsAnswer =
  | string[]
  | { alias: string; addresses: string[] }
  | 'NXDOMAIN'
  | 'SERVFAIL'
  | 'REFUSED'
  | 'silence'
type Zone = (name: string, isV6: boolean) => DnsAnswer

export type DnsServer = {
  /** As the guard wants it, each asking this server alone. */
  resolver: () => Resolver
  /** Every question, as "A name" or "AAAA name"; over TCP with "tcp" before it. */
  readonly asked: string[]
}

const CODES = { NXDOMAIN: 3, SERVFAIL: 2, REFUSED: 5 }
const MAX_DATAGRAM = 512

/** On loopback, until the test ends. */
export async function startDns(t: TestContext, zone: Zone, limits = { timeout: 5_000, tries: 1 }): Promise<DnsServer> {
  const { port, asked, close } = await openDns(zone, '127.0.0.1', 0)
  t.after(close)
  const resolver = () => {
    const one = new Resolver(limits)
    one.setServers([`127.0.0.1:${port}`])
    return one
  }
  return { resolver, asked }
}

/** `port` 0: any. */
export async function openDns(zone: Zone, host: string, wantedPort: number) {
  const asked: string[] = []
  const udp = createSocket('udp4')
  udp.on('message', (query, from) => {
    const { answer, question } = reply(query, zone)
    asked.push(question)
    if (answer !== null) udp.send(answer.length > MAX_DATAGRAM ? truncate(answer) : answer, from.port, from.address)
  })
  const tcp = createServer((socket) => {
    let read = Buffer.alloc(0)
    socket
      .on('error', () => {})
      .on('data', (chunk: Buffer) => {
        read = Buffer.concat([read, chunk])
        for (
          let length;
          read.length >= 2 && read.length >= (length = read.readUInt16BE(0)) + 2;
          read = read.subarray(length + 2)
        ) {
          const { answer, question } = reply(read.subarray(2, length + 2), zone)
          asked.push(`tcp ${question}`)
          if (answer !== null)
            socket.write(Buffer.concat([Buffer.from([answer.length >> 8, answer.length & 255]), answer]))
        }
      })
  })
  // TCP first: of its ports more are in use.
  tcp.listen(wantedPort, host)
  await once(tcp, 'listening')
  const { port } = tcp.address() as AddressInfo
  udp.bind(port, host)
  await once(udp, 'listening')
  const close = () => {
    udp.close()
    tcp.close()
  }
  return { port, asked, close }
}

/** Null: no answer comes. */
function reply(query: Buffer, zone: Zone): { question: string; answer: Buffer | null } {
  const labels = []
  let at = 12
  for (let length; (length = query[at]!) !== 0; at += length + 1)
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
  const isV6 = query.readUInt16BE(at + 1) === 28
  const name = labels.join('.')
  const found = zone(name, isV6)
  const question = `${isV6 ? 'AAAA' : 'A'} ${name}`
  if (found === 'silence') return { question, answer: null }
  const head = Buffer.from(query.subarray(0, at + 5))
  head.writeUInt16BE(0x8180 | (typeof found === 'string' ? CODES[found] : 0), 2)
  const records = typeof found === 'string' ? [] : recordsOf(found)
  for (const [place, count] of [[4, 1], [6, records.length], [8, 0], [10, 0]] as const) head.writeUInt16BE(count, place) // prettier-ignore
  return { question, answer: Buffer.concat([head, ...records]) }
}

const QUESTION = [0xc0, 12] // the name that was asked for, by its place

function recordsOf(found: Exclude<DnsAnswer, string>): Buffer[] {
  if (Array.isArray(found)) return found.map((address) => addressRecord(QUESTION, address))
  const alias = [...found.alias.split('.').flatMap((label) => [label.length, ...Buffer.from(label)]), 0]
  return [record(QUESTION, 5, alias), ...found.addresses.map((address) => addressRecord(alias, address))]
}

function addressRecord(name: number[], address: string): Buffer {
  if (isIPv4(address)) return record(name, 1, address.split('.').map(Number))
  const [left = [], right = []] = address.split('::').map((half) => (half === '' ? [] : half.split(':')))
  const groups = [...left, ...Array.from({ length: 8 - left.length - right.length }, () => '0'), ...right]
  return record(name, 28, groups.map((group) => parseInt(group, 16)).flatMap((group) => [group >> 8, group & 255])) // prettier-ignore
}

const record = (name: number[], type: number, data: number[]) =>
  Buffer.from([...name, 0, type, 0, 1, 0, 0, 0, 0, data.length >> 8, data.length & 255, ...data])

function truncate(answer: Buffer): Buffer {
  const end = answer.indexOf(0, 12) + 5
  const head = Buffer.from(answer.subarray(0, end))
  head.writeUInt16BE(head.readUInt16BE(2) | 0x0200, 2)
  head.writeUInt16BE(0, 6)
  return head
}
