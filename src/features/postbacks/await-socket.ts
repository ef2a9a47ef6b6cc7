import type { Socket } from 'node:net'
import { SendError } from './send-error.ts'

/**
 * Waits until `look`, called at each `event`, returns something. A socket that fails or closes first, or whose signal
 * is aborted, is destroyed, and the promise rejects with the result of `toSendError`.
 */
export function awaitSocket<Found>(
  socket: Socket,
  event: 'connect' | 'secureConnect' | 'readable',
  signal: AbortSignal,
  toSendError: (error: Error) => SendError,
  look: () => Found | null,
): Promise<Found> {
  socket.on('error', () => {}) // for good: an error between two listeners would end the process
  return new Promise((resolve, reject) => {
    const stopListening = () => {
      socket.off(event, onEvent).off('error', fail).off('close', onClose)
      signal.removeEventListener('abort', onAbort)
    }
    const fail = (error: Error) => {
      stopListening()
      socket.destroy()
      reject(error instanceof SendError ? error : toSendError(error))
    }
    const onClose = () => fail(new Error('The socket was closed.'))
    const onAbort = () => fail(new Error('The wait was cancelled.'))
    const onEvent = () => {
      try {
        const found = look()
        if (found === null) return
        stopListening()
        resolve(found)
      } catch (error) {
        fail(error as Error)
      }
    }
    socket.on(event, onEvent).on('error', fail).on('close', onClose)
    signal.addEventListener('abort', onAbort)
    if (signal.aborted) onAbort()
  })
}
