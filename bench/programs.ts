// What is measured with, and how busy processes are.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

const TICKS_A_SECOND = 100 // USER_HZ, the same on every Linux

/** Installs a program where that can be done automatically. */
export function ensureProgram(name: string, debianPackage: string): void {
  const isThere = () => spawnSync(name, ['--version']).error === undefined
  if (isThere()) return
  if (process.getuid?.() === 0)
    spawnSync('apt-get', ['install', '-y', debianPackage], { stdio: ['ignore', 'ignore', 'inherit'] })
  if (!isThere())
    throw new Error(
      `${name} makes the load and is not installed. On Debian and Ubuntu: apt-get install ${debianPackage}`,
    )
}

type Stat = { parent: number; seconds: number; secondsOfEnded: number }

export const cpuSeconds = (pid: number) => readStat(pid)?.seconds ?? 0

/** Those that a process has started, and that are still there. */
export const childPids = (pid: number): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && readStat(Number(name))?.parent === pid)
    .map(Number)

/** Of a process and its children, those that have ended included. */
export function familyCpuSeconds(pid: number): number {
  const own = readStat(pid)
  const children = childPids(pid).reduce((seconds, child) => seconds + cpuSeconds(child), 0)
  return (own?.seconds ?? 0) + (own?.secondsOfEnded ?? 0) + children
}

/** Null when there is no such process any more. */
function readStat(pid: number): Stat | null {
  let text: string
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1')
  } catch {
    return null
  }
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ') // the name before it may hold spaces
  const sum = (...places: number[]) =>
    places.reduce((total, place) => total + Number(fields[place]), 0) / TICKS_A_SECOND
  return { parent: Number(fields[1]), seconds: sum(11, 12), secondsOfEnded: sum(13, 14) }
}

export const residentMb = (pid: number) => readMb(pid, 'VmRSS')

/** The most it ever was. */
export const peakMb = (pid: number) => readMb(pid, 'VmHWM')

function readMb(pid: number, field: string): number {
  const [, kb] = new RegExp(`${field}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? []
  return Math.round(Number(kb) / 1024)
}
