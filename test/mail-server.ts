// A real mail server on this machine, for tests of what is mailed.
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { until } from './installation.ts'

type Mail = { from: string; to: string[]; data: string }

/** A minimal mail server: accepts everything, or answers a command as a test wants. */
export class MailServer {
  readonly got: Mail[] = []
  /** What it says to a command in place of yes; null: yes. 'hang up' closes the connection, 'hang' never answers. */
  answer: (command: string) => string | null = () => null
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  constructor() {
    this.#server = createServer((socket) => {
      this.#sockets.add(socket.on('error', () => {}))
      this.#talk(socket)
    })
  }

  async open(): Promise<this> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return this
  }

  get url(): string {
    return `smtp://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  #talk(socket: Socket): void {
    let [read, isData, mail] = ['', false, { from: '', to: [], data: '' } as Mail]
    const say = (line: string) => void socket.write(`${line}\r\n`)
    const take = (line: string) => {
      if (isData) {
        if (line !== '.') return void (mail.data += `${line}\n`)
        isData = false
        const refusal = this.answer('END')
        if (refusal === 'hang') return
        if (refusal === 'hang up') return void socket.destroy()
        if (refusal !== null) return say(refusal)
        this.got.push(mail)
        mail = { from: '', to: [], data: '' }
        return say('250 taken')
      }
      const refusal = this.answer(line)
      if (refusal === 'hang') return
      if (refusal === 'hang up') return void socket.destroy()
      if (refusal !== null) return say(refusal)
      if (line.startsWith('MAIL FROM:')) mail = { from: addressOf(line), to: [], data: '' }
      if (line.startsWith('RCPT TO:')) mail.to.push(addressOf(line))
      isData = line === 'DATA'
      say(isData ? '354 go on' : line === 'QUIT' ? '221 bye' : '250 yes')
    }
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      read += chunk
      for (let end; (end = read.indexOf('\r\n')) !== -1;) {
        const line = read.slice(0, end)
        read = read.slice(end + 2)
        take(line)
      }
    })
    say('220 mail.test')
  }

  /** The text of the next mail to this address with a matching subject, once it came; it is removed. */
  async take(to: string, subject: RegExp): Promise<string> {
    const find = () =>
      this.got.findIndex(
        (mail) => mail.to.some((one) => one.toLowerCase() === to.toLowerCase()) && subject.test(subjectOf(mail)),
      )
    await until(() => find() !== -1)
    const [mail] = this.got.splice(find(), 1)
    return plainText(mail?.data ?? '')
  }

  /** Ends what is under way, as a server does that is killed. */
  dropConnections(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  async close(): Promise<void> {
    this.dropConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}

const addressOf = (line: string) => /<(.*)>/.exec(line)?.[1] ?? ''
const subjectOf = ({ data }: Mail) =>
  /^Subject: (.*(?:\n[ \t].*)*)/m.exec(data)?.[1]?.replaceAll(/\n[ \t]+/g, ' ') ?? ''

/** Without the headers, and without what quoted-printable adds. */
function plainText(data: string): string {
  const body = data.slice(data.indexOf('\n\n') + 2)
  if (!/quoted-printable/i.test(data)) return body
  return body
    .replaceAll(/=\n/g, '')
    .replaceAll(/(?:=[0-9A-F]{2})+/g, (bytes) => Buffer.from(bytes.replaceAll('=', ''), 'hex').toString('utf8'))
}
