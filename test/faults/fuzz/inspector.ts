// What a process holds after its garbage was collected, asked of it by its debugger: the program itself has no door for it.
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

export type Held = { heapBytes: number; residentBytes: number; handles: number; files: number }

type Frame = { functionName: string; location: { scriptId: string; lineNumber: number } }
type Message =
  | { id: number; result: Record<string, unknown> }
  | { id?: never; method: string; params: { callFrames: Frame[]; scriptId: string; url: string } }

export class Inspector {
  readonly #pid: number
  readonly #socket: WebSocket
  readonly #waiting = new Map<number, PromiseWithResolvers<Record<string, unknown>>>()
  readonly #scripts = new Map<string, string>()
  #onPaused: (frames: Frame[]) => void = () => {}
  #count = 0

  private constructor(pid: number, socket: WebSocket) {
    this.#pid = pid
    this.#socket = socket
    socket.addEventListener('close', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('The process has ended.'))
    })
    socket.addEventListener('message', ({ data }) => {
      const message = JSON.parse(String(data)) as Message
      if (message.id !== undefined) this.#answer(message.id, message.result)
      else if (message.method === 'Debugger.paused') this.#onPaused(message.params.callFrames)
      else if (message.method === 'Debugger.scriptParsed')
        this.#scripts.set(message.params.scriptId, message.params.url)
    })
  }

  static async open(pid: number, port: number): Promise<Inspector> {
    const [target] = (await (await fetch(`http://127.0.0.1:${port}/json`)).json()) as { webSocketDebuggerUrl: string }[]
    const socket = new WebSocket(target?.webSocketDebuggerUrl ?? '')
    await new Promise((resolve) => socket.addEventListener('open', resolve))
    return new Inspector(pid, socket)
  }

  async held(): Promise<Held> {
    for (let i = 0; i < 3; i++) await this.#ask('HeapProfiler.collectGarbage') // finalizers free more
    const { usedSize } = (await this.#ask('Runtime.getHeapUsage')) as { usedSize: number }
    const expression = 'process.getActiveResourcesInfo().length'
    const { result } = (await this.#ask('Runtime.evaluate', { expression })) as { result: { value: number } }
    const files = readdirSync(`/proc/${this.#pid}/fd`).length
    const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${this.#pid}/status`, 'utf8')) ?? []
    return { heapBytes: usedSize, residentBytes: Number(kilobytes) * 1024, handles: result.value, files }
  }

  /** Whether it does anything at all; false after a while without. */
  async isAwake(patienceMs: number): Promise<boolean> {
    const asked = this.#ask('Runtime.evaluate', { expression: '0' }).then(() => true)
    return Promise.race([asked, sleep(patienceMs, false, { ref: false })])
  }

  /** What it is doing right now, in the middle of a loop even: its stack. */
  async stack(): Promise<string> {
    const paused = new Promise<Frame[]>((resolve) => (this.#onPaused = resolve))
    void this.#ask('Debugger.enable')
    void this.#ask('Debugger.pause')
    const frames = await paused
    void this.#ask('Debugger.resume')
    await this.#ask('Debugger.disable')
    return frames.map(({ functionName, location }) => `    at ${functionName} (${this.#scripts.get(location.scriptId)}:${location.lineNumber + 1})`).join('\n') // prettier-ignore
  }

  close(): void {
    this.#socket.close()
  }

  #ask(method: string, params: object = {}): Promise<Record<string, unknown>> {
    const id = ++this.#count
    const answer = Promise.withResolvers<Record<string, unknown>>()
    this.#waiting.set(id, answer)
    this.#socket.send(JSON.stringify({ id, method, params }))
    return answer.promise
  }

  #answer(id: number, result: Record<string, unknown>): void {
    this.#waiting.get(id)?.resolve(result)
    this.#waiting.delete(id)
  }
}
