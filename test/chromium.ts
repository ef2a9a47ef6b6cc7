// The browser of the tests: one for all files that a process runs; it ends with the process.
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

/** The shell takes half the time of Chromium for the same page: it is the same but for its windows and menus. */
const PROGRAMS = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium']
const ARGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'] // prettier-ignore

let browser: Promise<Browser> | undefined

export function useBrowser(): Promise<Browser> {
  const executablePath = process.env['CHROMIUM'] ?? PROGRAMS.find((path) => existsSync(path)) ?? 'chromium'
  return (browser ??= chromium.launch({ executablePath, args: ARGS }))
}
