import { resolve } from 'node:path'
import { parseRanges } from './ip-ranges.ts'

/**
 * The variables of an environment. Problems are recorded, and a harmless value returned, so that all are reported at
 * once.
 */
export class EnvReader {
  readonly problems: string[] = []
  readonly #env: NodeJS.ProcessEnv

  constructor(env: NodeJS.ProcessEnv) {
    this.#env = env
  }

  /** Without the white space around it; null when there is nothing else. */
  text(name: string): string | null {
    return this.#env[name]?.trim() || null
  }

  onOrOff(name: string, fallback: boolean): boolean {
    const text = this.text(name)?.toLowerCase()
    if (text === undefined) return fallback
    if (['on', 'true', '1', 'yes'].includes(text)) return true
    if (['off', 'false', '0', 'no'].includes(text)) return false
    return this.#refuse(`${name} must be "on" or "off".`, fallback)
  }

  wholeNumber(name: string, fallback: number, min: number, max: number): number {
    const text = this.text(name) ?? String(fallback)
    const number = /^\d+$/.test(text) && text.length <= String(max).length ? Number(text) : NaN
    if (number >= min && number <= max) return number
    return this.#refuse(`${name} must be a whole number from ${min} to ${max}.`, fallback)
  }

  oneOf<T extends string>(name: string, known: readonly T[], fallback: T): T {
    const text = this.text(name) ?? fallback
    return known.find((one) => one === text) ?? this.#refuse(`${name} must be one of ${known.join(', ')}.`, fallback)
  }

  url(name: string, schemes: readonly string[]): string | null {
    const text = this.text(name)
    if (text === null) return null
    const scheme = URL.parse(text)?.protocol.slice(0, -1) ?? ''
    if (schemes.includes(scheme)) return text
    return this.#refuse(`${name} must be a URL that starts with ${schemes.map((s) => `${s}://`).join(' or ')}.`, null)
  }

  path(name: string): string | null {
    const path = this.text(name)
    return path === null ? null : resolve(path)
  }

  list(name: string): string[] {
    const parts = (this.text(name) ?? '').split(',')
    return parts.map((part) => part.trim()).filter((part) => part !== '')
  }

  cidrs(name: string): string[] {
    const list = this.list(name)
    const { ranges, problems } = parseRanges(list.join('\n'))
    if (problems.length > 0)
      this.problems.push(
        `${name} must be addresses or CIDRs such as 10.0.0.0/8, separated by commas. ${problems.join(' ')}`,
      )
    return ranges.isEmpty ? [] : list
  }

  #refuse<T>(problem: string, instead: T): T {
    this.problems.push(problem)
    return instead
  }
}
