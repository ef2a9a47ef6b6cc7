// The app of the demo, whose secrets are kept in a file, so that every start can print them.
import { existsSync, readFileSync } from 'node:fs'
import type { IssuedCredentials } from '../features/apps/keys.ts'
import { demoAppFile } from '../features/postbacks/demo-receiver.ts'

export type DemoApp = { app_id: number; live: IssuedCredentials; test: IssuedCredentials }

/** The demo app with its secrets; null where there is none. Files of earlier versions have the live keys beside `test`. */
export function readDemoApp(dataDir: string): DemoApp | null {
  const file = demoAppFile(dataDir)
  if (!existsSync(file)) return null
  const kept = JSON.parse(readFileSync(file, 'utf8')) as DemoApp | (IssuedCredentials & Omit<DemoApp, 'live'>)
  if ('live' in kept) return kept
  const { app_id, test, ...live } = kept
  return 'signing_secret' in live ? { app_id, live, test } : null
}
