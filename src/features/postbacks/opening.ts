import type { Socket } from 'node:net'
import type { Phase, SendError } from './send-error.ts'

/** The state shared between opening a connection and the request that waits for it. */
export type Opening = {
  phase: Phase
  readonly endsAt: number
  /** What a timeout means at this point; null: what the phase says. */
  lateError: SendError | null
}

export type ConnectTo = (address: string, port: number, signal: AbortSignal, opening: Opening) => Promise<Socket>
