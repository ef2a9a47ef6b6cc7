// Which packages known vulnerabilities affect, by advisories in OSV format (https://ossf.github.io/osv-schema/).

type Event = { introduced?: string; fixed?: string; last_affected?: string }

export type Advisory = {
  id: string
  summary?: string
  withdrawn?: string
  affected?: {
    package?: { ecosystem?: string; name?: string }
    ranges?: { type?: string; events?: Event[] }[]
    versions?: string[]
  }[]
}

export type Installed = { name: string; version: string }

export function findAffected(installed: readonly Installed[], advisory: Advisory): Installed[] {
  if (advisory.withdrawn !== undefined) return []
  return (advisory.affected ?? [])
    .filter((one) => one.package?.ecosystem === 'npm')
    .flatMap(({ package: about, ranges = [], versions = [] }) =>
      installed.filter(
        ({ name, version }) =>
          name === about?.name &&
          (versions.includes(version) || ranges.some(({ type, events = [] }) => type === 'SEMVER' && isWithin(version, events))), // prettier-ignore
      ),
    )
}

/** Events in the order of their versions: each begins or ends what is affected. */
function isWithin(version: string, events: readonly Event[]): boolean {
  const versionOf = ({ introduced, fixed, last_affected }: Event) => introduced ?? fixed ?? last_affected ?? '0'
  let isAffected = false
  for (const event of events.toSorted((a, b) => compareVersions(versionOf(a), versionOf(b)))) {
    const order = compareVersions(version, versionOf(event))
    if (event.introduced !== undefined && order >= 0) isAffected = true
    if (event.fixed !== undefined && order >= 0) isAffected = false
    if (event.last_affected !== undefined && order > 0) isAffected = false
  }
  return isAffected
}

/** By the rules of semantic versioning: 1.0.0-beta.2 < 1.0.0-beta.11 < 1.0.0. What is built is no part of it. */
export function compareVersions(one: string, other: string): number {
  const read = (text: string) => {
    const [, numbers = '0', before = ''] = /^v?([\d.]+)(?:-([^+]+))?/.exec(text) ?? []
    return { numbers: numbers.split('.').map(Number), before: before === '' ? null : before.split('.') }
  }
  const [a, b] = [read(one), read(other)]
  for (let i = 0; i < 3; i++) {
    const order = (a.numbers[i] ?? 0) - (b.numbers[i] ?? 0)
    if (order !== 0) return order
  }
  if (a.before === null || b.before === null) return Number(a.before === null) - Number(b.before === null)
  for (let i = 0; i < Math.max(a.before.length, b.before.length); i++) {
    const order = compareParts(a.before[i], b.before[i])
    if (order !== 0) return order
  }
  return 0
}

/** Fewer parts come first, and numbers before words. */
function compareParts(one: string | undefined, other: string | undefined): number {
  if (one === undefined || other === undefined) return Number(one !== undefined) - Number(other !== undefined)
  const [isNumber, isOtherNumber] = [/^\d+$/.test(one), /^\d+$/.test(other)]
  if (isNumber && isOtherNumber) return Number(one) - Number(other)
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1
  return one < other ? -1 : Number(one > other)
}
