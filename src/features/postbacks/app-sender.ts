import { createBothGuards, isDemoReceiver, type SendConfig } from './demo-receiver.ts'
import { createSocketOpener, type SocketOpener } from './open-socket.ts'
import { createSender, type Sender } from './sender.ts'

/** Sends each app's postbacks under its own rules. */
export function createAppSender(config: SendConfig): Sender {
  const guards = createBothGuards(config)
  const elsewhere = createSender({ guard: guards.elsewhere, proxy: config.postbackProxy })
  if (!config.demo) return elsewhere
  const local = createSender({ guard: guards.local, proxy: null })
  return {
    send: (request, appId) =>
      (appId !== undefined && isDemoReceiver(config, appId, request.url) ? local : elsewhere).send(request),
    close: async () => void (await Promise.all([elsewhere.close(), local.close()])),
  }
}

/** For requests to whatever an operator names: under the same rules. */
export const createGuardedOpener = (config: SendConfig): SocketOpener =>
  createSocketOpener({ guard: createBothGuards(config).elsewhere, proxy: config.postbackProxy })
