// Mail, where there is a mail server.
import { Socket } from 'node:net'

/** For everything together: a server that answers a byte now and then must not block a mail, or its sender. */
export const SEND_MS = 20_000

export type Mail = { to: string; subject: string; text: string }
export type Mailer = { send(mail: Mail): Promise<void>; close(): void }

/** The server said that it will never accept mail for this address. */
export function isRefusedRecipient(error: unknown): boolean {
  const { command, responseCode = 0 } = error as { command?: string; responseCode?: number }
  return command === 'RCPT TO' && responseCode >= 500
}

/** True where the mail server answered: the failure is about this mail, and the next one may well be taken. */
export const isAnswered = (error: unknown) => (error as { responseCode?: number }).responseCode !== undefined

/** What went wrong, as a code. What a server wrote may repeat the mail, with the secret in its link. */
export function failureOf(error: unknown): string {
  const { command, code, responseCode } = error as { command?: string; code?: string; responseCode?: number }
  return [responseCode ?? code ?? 'ERROR', ...(command === undefined ? [] : [command])].join(' ').slice(0, 60)
}

export function createMailer(smtpUrl: string, from: string, sendMs = SEND_MS): Mailer {
  const open = new Set<Socket>()
  return {
    async send(mail) {
      const socket = new Socket()
      open.add(socket)
      const timeouts = { connectionTimeout: sendMs, greetingTimeout: sendMs, socketTimeout: sendMs }
      let isLate = false
      const deadline = setTimeout(() => {
        isLate = true
        socket.destroy()
      }, sendMs)
      try {
        const { createTransport } = await import('nodemailer')
        await createTransport({ url: smtpUrl, socket, ...timeouts }, { from }).sendMail(mail)
      } catch (error) {
        throw isLate ? Object.assign(new Error('The mail server took too long'), { code: 'ETIMEDOUT' }) : error
      } finally {
        clearTimeout(deadline)
        open.delete(socket)
        socket.destroy()
      }
    },
    close() {
      for (const socket of open) socket.destroy()
    },
  }
}
