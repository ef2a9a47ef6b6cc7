// A forward proxy on loopback that tunnels to this machine, whatever host it is asked for, or fails as a test wants.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

/** Does something else than to tunnel with a client that has sent its CONNECT. */
type Misbehaviour = (client: Socket) => void

export type ForwardProxy = {
  readonly port: number
  /** What was asked for: the head of each request. */
  readonly asked: string[]
  readonly clients: ReadonlySet<Socket>
  misbehave: Misbehaviour | null
}

export async function startProxy(t: TestContext, misbehave: Misbehaviour | null = null): Promise<ForwardProxy> {
  const clients = new Set<Socket>()
  const asked: string[] = []
  const server = createServer((client) => {
    clients.add(client)
    client
      .on('error', () => {})
      .on('close', () => clients.delete(client))
      .once('data', (head) => {
        asked.push(String(head))
        if (proxy.misbehave !== null) return proxy.misbehave(client)
        const upstream = connect(Number(/:(\d+) HTTP/.exec(String(head))![1]), '127.0.0.1', () => {
          client.write('HTTP/1.1 200 Connection established\r\nx: y\r\n\r\n')
          upstream.pipe(client).pipe(upstream)
        }).on('error', () => client.destroy())
        client.on('close', () => upstream.destroy())
      })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const client of clients) client.destroy()
    server.close()
  })
  const proxy: ForwardProxy = { port: (server.address() as AddressInfo).port, asked, clients, misbehave }
  return proxy
}
