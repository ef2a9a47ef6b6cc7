// The client against a real app: a world that listens on a port, and a way to it that can fail.
import { connect, type AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { type ClientOptions, Offerdeck } from '../../client/src/index.ts'
import { type Behaviour, type Receiver, startReceiver } from '../receiver.ts'
import { useWorld, type World } from '../world.ts'

export type Keys = { api_key: string; api_secret: string }
type More = Partial<ClientOptions>

export function useServed(name: string) {
  let port = 0
  const world: World = useWorld(name, async () => {
    await world.app.server.listen({ host: '127.0.0.1', port: 0 })
    port = (world.app.server.server.address() as AddressInfo).port
  })
  return {
    world,
    url: () => `http://127.0.0.1:${port}`,
    client: (keys: Keys, more: More = {}) => createClient(port, keys, more),
    /** A client whose requests meet these behaviours in turn; what comes after them goes through to the app. */
    behind: async (t: TestContext, keys: Keys, behaviours: Behaviour[], more: More = {}) => {
      const receiver = await startReceiver(inTurn(...behaviours, forward(port)))
      t.after(() => receiver.close())
      return { client: createClient(receiver.port, keys, more), receiver }
    },
  }
}

export const createClient = (port: number, { api_key, api_secret }: Keys, more: More = {}) =>
  new Offerdeck({ baseUrl: `http://127.0.0.1:${port}`, apiKey: api_key, apiSecret: api_secret, ...more })

/** One for each request; the last for all that follow. */
export function inTurn(...behaviours: Behaviour[]): Behaviour {
  let count = 0
  return (socket, request) => behaviours[Math.min(count++, behaviours.length - 1)]?.(socket, request)
}

/** The app has the request, and the client its answer. */
export const forward =
  (port: number): Behaviour =>
  (socket, { head, body }) => {
    const upstream = connect(port, '127.0.0.1', () => upstream.write(`${head}\r\n\r\n${body}`, 'latin1'))
    upstream.on('data', (data) => socket.write(data)).on('error', () => socket.destroy())
    socket.on('close', () => upstream.destroy())
  }

/** The app has the request, and its answer is lost. */
export const loseAnswer =
  (port: () => number): Behaviour =>
  (socket, { head, body }) => {
    const upstream = connect(port(), '127.0.0.1', () => upstream.write(`${head}\r\n\r\n${body}`, 'latin1'))
    upstream.once('data', () => {
      upstream.destroy()
      socket.resetAndDestroy()
    })
  }

/** The connection ends, and the app never sees the request. */
export const cut: Behaviour = (socket) => socket.resetAndDestroy()

/** What was asked for: method and path of each request. */
export const asked = ({ requests }: Receiver) => requests.map(({ head }) => head.split(' HTTP/')[0] ?? '')
