// Writes small files in the MaxMind DB format (version 2.0): a tree of nodes by the bits of an address, the records that
// its leaves point to, and metadata. In an IPv6 tree, IPv4 addresses stand under ::/96.
import ipaddr from 'ipaddr.js'

const METADATA_MARKER = Buffer.from('abcdef4d61784d696e642e636f6d', 'hex')
const SEPARATOR = Buffer.alloc(16)

type Value = string | number | { [key: string]: Value }
type Leaf = { offset: number }
type Node = { sides: [Node | Leaf | null, Node | Leaf | null] }

/** `networks` by CIDR, the wider ones first: a country's code, or a whole record. */
export function buildMmdb(
  networks: Record<string, Value>,
  { kind = 'Test-Country', ipVersion = 6 }: { kind?: string; ipVersion?: 4 | 6 } = {},
): Buffer {
  const root: Node = { sides: [null, null] }
  const records: Buffer[] = []
  let offset = 0
  for (const [cidr, value] of Object.entries(networks)) {
    const record = encode(typeof value === 'string' ? { country: { iso_code: value } } : value)
    insert(root, bitsOf(cidr, ipVersion), { offset })
    records.push(record)
    offset += record.length
  }
  const nodes = nodesOf(root)
  const metadata = encode({
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1_700_000_000,
    database_type: kind,
    ip_version: ipVersion,
    node_count: nodes.length,
    record_size: 32,
  })
  return Buffer.concat([writeTree(nodes), SEPARATOR, ...records, METADATA_MARKER, metadata])
}

function bitsOf(cidr: string, ipVersion: 4 | 6): number[] {
  const [address, length] = ipaddr.parseCIDR(cidr)
  const padding = address.kind() === 'ipv4' && ipVersion === 6 ? 96 : 0
  const bytes = [...Array<number>(padding / 8).fill(0), ...address.toByteArray()]
  const bits = bytes.flatMap((byte) => [7, 6, 5, 4, 3, 2, 1, 0].map((place) => (byte >> place) & 1))
  return bits.slice(0, padding + length)
}

function insert(root: Node, bits: number[], leaf: Leaf): void {
  let node = root
  for (const [i, bit] of bits.entries()) {
    const side = bit === 0 ? 0 : 1
    const next = node.sides[side]
    if (i === bits.length - 1) node.sides[side] = leaf
    else if (next !== null && 'sides' in next) node = next
    else node = node.sides[side] = { sides: [next, next] } // a narrower network cuts the wider one in two
  }
}

function nodesOf(root: Node): Node[] {
  const nodes = [root]
  for (const { sides } of nodes) for (const side of sides) if (side !== null && 'sides' in side) nodes.push(side)
  return nodes
}

function writeTree(nodes: Node[]): Buffer {
  const places = new Map(nodes.map((node, place) => [node, place]))
  const tree = Buffer.alloc(nodes.length * 8)
  const pointer = (side: Node | Leaf | null) => {
    if (side === null) return nodes.length // nothing is known
    return 'sides' in side ? (places.get(side) ?? 0) : nodes.length + SEPARATOR.length + side.offset
  }
  for (const [i, { sides }] of nodes.entries()) {
    tree.writeUInt32BE(pointer(sides[0]), i * 8)
    tree.writeUInt32BE(pointer(sides[1]), i * 8 + 4)
  }
  return tree
}

function encode(value: Value): Buffer {
  if (typeof value === 'string') return Buffer.concat([control(2, Buffer.byteLength(value)), Buffer.from(value)])
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32BE(value)
    return Buffer.concat([control(6, 4), bytes])
  }
  const entries = Object.entries(value)
  return Buffer.concat([control(7, entries.length), ...entries.flatMap(([key, one]) => [encode(key), encode(one)])])
}

/** Kind and size in one byte, which is enough below 29. */
function control(kind: number, size: number): Buffer {
  if (size > 28) throw new RangeError('This writer knows only strings and maps shorter than 29.')
  return Buffer.from([(kind << 5) | size])
}
