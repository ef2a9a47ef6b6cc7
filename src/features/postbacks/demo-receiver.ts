// In the demo, two receivers on this machine get postbacks: "offerdeck listen" those of the demo app, and the demo's site
// those of its own app. For all other apps, ports and paths the rules of the network apply.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../config.ts'
import { type AddressGuard, createAddressGuard } from './address-guard.ts'

export const DEMO_RECEIVER = 'http://127.0.0.1:8088'

/** Where the demo keeps its app with its secrets. */
export const demoAppFile = (dataDir: string) => join(dataDir, 'demo-app.json')
/** Where it keeps that of its site. */
export const demoSiteFile = (dataDir: string) => join(dataDir, 'demo-site.json')

type DemoConfig = Pick<Config, 'demo' | 'dataDir' | 'publicUrl'>
export type SendConfig = DemoConfig & Pick<Config, 'postbackAllow' | 'postbackDeny' | 'postbackProxy'>

/** Whether this is the demo app and its receiver, or the demo's site and its own. */
export function isDemoReceiver({ demo, dataDir, publicUrl }: DemoConfig, appId: number, url: string): boolean {
  if (!demo) return false
  const { origin, pathname } = URL.parse(url) ?? {}
  if (origin === DEMO_RECEIVER && appOf(demoAppFile(dataDir)) === appId) return true
  return origin === new URL(publicUrl).origin && pathname === '/demo/postback' && appOf(demoSiteFile(dataDir)) === appId
}

const appOf = (file: string) =>
  existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { app_id: number }).app_id : null

/** The address guard for an app and its URL: the apps of the demo may reach their receivers. */
export function createGuards(config: SendConfig): (appId: number, url: string) => AddressGuard {
  const { elsewhere, local } = createBothGuards(config)
  return (appId, url) => (isDemoReceiver(config, appId, url) ? local : elsewhere)
}

export function createBothGuards({ postbackAllow: allow, postbackDeny: deny }: SendConfig) {
  return {
    elsewhere: createAddressGuard({ allow, deny, allowLoopback: false }),
    local: createAddressGuard({ allow, deny, allowLoopback: true }),
  }
}
