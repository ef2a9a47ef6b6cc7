// In the demo, "offerdeck listen" on this machine receives the postbacks of the demo app: that app, that port, and
// nothing else. For all other apps and ports the rules of the network apply.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../config.ts'
import { type AddressGuard, createAddressGuard } from './address-guard.ts'

export const DEMO_RECEIVER = 'http://127.0.0.1:8088'

/** Where the demo keeps its app with its secrets. */
export const demoAppFile = (dataDir: string) => join(dataDir, 'demo-app.json')

type DemoConfig = Pick<Config, 'demo' | 'dataDir'>
export type SendConfig = DemoConfig & Pick<Config, 'postbackAllow' | 'postbackDeny' | 'postbackProxy'>

export function isDemoApp({ demo, dataDir }: DemoConfig, appId: number): boolean {
  const file = demoAppFile(dataDir)
  if (!demo || !existsSync(file)) return false
  return (JSON.parse(readFileSync(file, 'utf8')) as { app_id: number }).app_id === appId
}

export const isReceiver = (url: string) => URL.parse(url)?.origin === DEMO_RECEIVER

/** The address guard for an app and its URL: the demo app may reach the demo receiver. */
export function createGuards(config: SendConfig): (appId: number, url: string) => AddressGuard {
  const { elsewhere, local } = createBothGuards(config)
  return (appId, url) => (isReceiver(url) && isDemoApp(config, appId) ? local : elsewhere)
}

export function createBothGuards({ postbackAllow: allow, postbackDeny: deny }: SendConfig) {
  return {
    elsewhere: createAddressGuard({ allow, deny, allowLoopback: false }),
    local: createAddressGuard({ allow, deny, allowLoopback: true }),
  }
}
