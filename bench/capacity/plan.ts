// The arithmetic of docs/capacity.md: what a network needs, from what was measured and what is assumed of it.
import type { Kind } from './requests.ts'

/** What a million requests of a kind take, as the page has it: seconds of CPU, and megabytes. */
export type MeasuredKind = {
  'API s': number
  'worker s': number
  'PostgreSQL s': number
  'tables MB': number
  'indexes MB': number
  'WAL MB': number
  'sent MB': number
}

export type Measured = Record<Kind, MeasuredKind>

/** What becomes of a million clicks: each is rolled up once, and counted when its day is dropped. */
export const LATER_COSTS = ['rolled up, s', 'counted and dropped, s', 'left for statistics, MB'] as const
export type LaterCosts = Record<(typeof LATER_COSTS)[number], number>

export const ASSUMPTIONS = [
  'clicks a day',
  'peak over mean',
  'lists for a click',
  'walls for a click',
  'conversions for a click',
  'share of the CPU in use at the peak',
  'cores of an API node',
  'cores of a primary',
  'days clicks are kept',
  'replicas',
] as const
export type Assumptions = Record<(typeof ASSUMPTIONS)[number], number>

const SECONDS_A_DAY = 86_400
const CONNECTIONS = 12 // of a process
const COUNT_DAYS = 400 // that counts of clicks keep their sub-IDs

/** A line of the plan: what, how it was reckoned, and what came out. */
export type PlanLine = [what: string, arithmetic: string, result: string]

export function planNetwork(measured: Measured, later: LaterCosts, assumed: Assumptions): PlanLine[] {
  const plan = new Plan(measured, later, assumed)
  const peak = plan.addRates()
  const networks = plan.addServers(peak)
  plan.addDisk(networks)
  plan.addWorker(peak)
  plan.addBytes(peak, networks)
  return plan.lines
}

class Plan {
  readonly lines: PlanLine[] = []
  readonly #measured: Measured
  readonly #later: LaterCosts
  readonly #assumed: Assumptions
  /** How many of each kind there are for a click. */
  readonly #shares: [Kind, number][]
  /** Clicks a day. */
  readonly #millions: number

  constructor(measured: Measured, later: LaterCosts, assumed: Assumptions) {
    this.#measured = measured
    this.#later = later
    this.#assumed = assumed
    this.#shares = [
      ['click', 1],
      ['list', assumed['lists for a click']],
      ['wall', assumed['walls for a click']],
      ['report', assumed['conversions for a click']],
    ]
    this.#millions = assumed['clicks a day'] / 1e6
  }

  /** Clicks a second at the peak. */
  addRates(): number {
    const clicks = this.#assumed['clicks a day']
    const factor = this.#assumed['peak over mean']
    const mean = this.#add('clicks a second, mean', `${show(clicks)} / ${show(SECONDS_A_DAY)}`, clicks / SECONDS_A_DAY)
    const peak = this.#add('clicks a second, peak', `${show(mean)} × ${factor}`, mean * factor)
    for (const [kind, share] of this.#shares.slice(1))
      this.#add(`${kind}s a second, peak`, `${show(peak)} × ${share}`, peak * share)
    return peak
  }

  /** How many networks, each with a primary, the CPU of PostgreSQL asks for. */
  addServers(peak: number): number {
    const { 'cores of an API node': nodeCores, 'cores of a primary': primaryCores } = this.#assumed
    const api = this.#addCores('API', 'API s', peak)
    const nodes = this.#add('API nodes, one of them spare', `${show(api)} / ${nodeCores}, rounded up, + 1`, Math.ceil(api / nodeCores) + 1) // prettier-ignore
    this.#addCores('workers', 'worker s', peak)
    const postgres = this.#addCores('PostgreSQL', 'PostgreSQL s', peak)
    const networks = this.#add('networks, each with a primary', `${show(postgres)} / ${primaryCores}, rounded up`, Math.ceil(postgres / primaryCores)) // prettier-ignore
    const connections = (nodes * nodeCores * CONNECTIONS) / networks
    this.#add('connections, each primary', `${nodes} × ${nodeCores} processes × ${CONNECTIONS} / ${networks}`, connections) // prettier-ignore
    return networks
  }

  addDisk(networks: number): void {
    const { 'days clicks are kept': days, 'clicks a day': clicks } = this.#assumed
    const million = `${show(this.#millions)} million`
    const click = this.#diskOf('click')
    const day = this.#add('disk, clicks of a day', `${million} × ${show(click)} MB`, (this.#millions * click) / 1e3, 'GB') // prettier-ignore
    this.#add('disk, clicks', `${show(day)} GB × ${days} days`, (day * days) / 1e3, 'TB')
    const left = this.#later['left for statistics, MB']
    this.#add('disk, counts of dropped clicks', `${million} × ${show(left)} MB × ${COUNT_DAYS} days`, (this.#millions * left * COUNT_DAYS) / 1e6, 'TB') // prettier-ignore
    const reports = this.#millions * this.#assumed['conversions for a click']
    const report = this.#diskOf('report')
    const reportDay = this.#add('disk, conversions of a day, with postbacks', `${show(reports)} million × ${show(report)} MB`, (reports * report) / 1e3, 'GB') // prettier-ignore
    this.#add('disk, conversions of a year, if no postback were deleted', `${show(reportDay)} GB × 365 days`, (reportDay * 365) / 1e3, 'TB') // prettier-ignore
    const indexes = this.#measured.click['indexes MB']
    this.#add("memory for the indexes of today's clicks, each primary", `${million} × ${show(indexes)} MB / ${networks}`, (this.#millions * indexes) / 1e3 / networks, 'GB') // prettier-ignore
    this.#add('partitions of clicks, each network', `${days} days, today and tomorrow`, days + 2)
    this.#add('clicks in a partition', `${show(clicks)} / ${networks}`, clicks / networks)
  }

  /** What one worker at a time does with all clicks. */
  addWorker(peak: number): void {
    const { 'rolled up, s': rolledUp, 'counted and dropped, s': counted } = this.#later
    this.#add('rolling up at the peak, of the time of one worker', `${show(peak)} × ${show(rolledUp)} / 10⁶ × 100`, (peak * rolledUp) / 1e4, '%') // prettier-ignore
    this.#add('counting a day before it is dropped', `${show(this.#millions)} million × ${show(counted)} s / 3,600`, (this.#millions * counted) / 3_600, 'hours') // prettier-ignore
  }

  addBytes(peak: number, networks: number): void {
    const { replicas } = this.#assumed
    const wal = this.#describeSum('WAL MB')
    this.#add('WAL of a day', `${show(this.#millions)} million × ${wal} MB`, (this.#millions * this.#sum('WAL MB')) / 1e6, 'TB') // prettier-ignore
    const walPeak = this.#add('WAL at the peak', `${show(peak)} × ${wal} / 10⁶`, (peak * this.#sum('WAL MB')) / 1e6, 'MB/s') // prettier-ignore
    this.#add('WAL sent to replicas, each primary', `${show(walPeak)} MB/s × ${replicas} / ${networks}`, (walPeak * replicas) / networks, 'MB/s') // prettier-ignore
    this.#add('sent to users and publishers at the peak', `${show(peak)} × ${this.#describeSum('sent MB')} × 8 / 10⁹`, (peak * this.#sum('sent MB') * 8) / 1e9, 'Gbit/s') // prettier-ignore
  }

  #add(what: string, arithmetic: string, amount: number, unit = ''): number {
    this.lines.push([what, arithmetic, `${show(amount)} ${unit}`.trimEnd()])
    return amount
  }

  #addCores(what: string, name: keyof MeasuredKind, peak: number): number {
    const share = this.#assumed['share of the CPU in use at the peak']
    const arithmetic = `${show(peak)} × ${this.#describeSum(name)} / 10⁶ / ${share}`
    return this.#add(what, arithmetic, (peak * this.#sum(name)) / 1e6 / share, 'cores')
  }

  /** Of a million clicks with everything that comes with them. */
  #sum(name: keyof MeasuredKind): number {
    return this.#shares.reduce((total, [kind, share]) => total + share * this.#measured[kind][name], 0)
  }

  #describeSum(name: keyof MeasuredKind): string {
    const [first, ...others] = this.#shares.map(([kind, share]) => [share, show(this.#measured[kind][name])] as const)
    return `(${[first?.[1], ...others.map(([share, amount]) => `${share} × ${amount}`)].join(' + ')})`
  }

  #diskOf(kind: Kind): number {
    return this.#measured[kind]['tables MB'] + this.#measured[kind]['indexes MB']
  }
}

/** Three digits are what such figures are worth. */
const show = (value: number) =>
  value >= 1000 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)))
