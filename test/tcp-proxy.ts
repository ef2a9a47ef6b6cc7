// Leads connections to one port on, to where it is set: what a virtual address or a load balancer does for a database.
import { connect, createServer, type Server, type Socket } from 'node:net'
import { freePort } from './ports.ts'

export class TcpProxy {
  readonly port: number
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #target: number | null

  private constructor(port: number, target: number) {
    this.port = port
    this.#target = target
    this.#server = createServer((client) => this.#join(client)).listen(port, '127.0.0.1')
  }

  static async open(target: number): Promise<TcpProxy> {
    return new TcpProxy(await freePort(), target)
  }

  /** Existing connections are cut; null: new ones are, too. */
  leadTo(target: number | null): void {
    this.#target = target
    for (const socket of this.#sockets) socket.destroy()
  }

  #join(client: Socket): void {
    if (this.#target === null) return void client.destroy()
    const server = connect(this.#target, '127.0.0.1')
    for (const [one, other] of [[client, server], [server, client]] as const) {
      this.#sockets.add(one)
      one.pipe(other)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        this.#sockets.delete(one)
        other.destroy()
      })
    } // prettier-ignore
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
