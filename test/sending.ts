// A sender and a receiver for it, to see how single requests go: without queue and database.
import type { TestContext } from 'node:test'
import type { TlsOptions } from 'node:tls'
import { createAddressGuard, type GuardOptions } from '../src/features/postbacks/address-guard.ts'
import { createSender, type SenderOptions, type SendRequest } from '../src/features/postbacks/sender.ts'
import { type Behaviour, startReceiver } from './receiver.ts'

export const SHORT_MS = 400
const LONG_MS = 20_000 // never reached: only a deadline ends some of these

/** Each name has these addresses. */
export function namesTo(...addresses: string[]) {
  return () => ({
    resolve4: () => Promise.resolve(addresses.filter((address) => !address.includes(':'))),
    resolve6: () => Promise.resolve(addresses.filter((address) => address.includes(':'))),
    cancel: () => {},
  })
}

/** Lets through what is public, and the receivers of tests. */
export const createGuard = (resolver: NonNullable<GuardOptions['resolver']>, allowLoopback = true) =>
  createAddressGuard({ allow: [], deny: [], allowLoopback, resolver })

export async function withReceiver(
  t: TestContext,
  behave: Behaviour,
  options: Partial<SenderOptions> & { tls?: TlsOptions } = {},
) {
  const { tls, ...senderOptions } = options
  const receiver = await startReceiver(behave, tls)
  const sender = createSender({ guard: createGuard(namesTo('127.0.0.1')), proxy: null, ...senderOptions })
  t.after(async () => {
    await sender.close()
    await receiver.close()
  })
  const base = `${tls ? 'https' : 'http'}://127.0.0.1:${receiver.port}`
  const send = (request: Partial<SendRequest> = {}) =>
    sender.send({ method: 'GET', url: `${base}/`, headers: {}, body: null, timeoutMs: LONG_MS, ...request })
  return { receiver, sender, send }
}
