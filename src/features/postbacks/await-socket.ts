import type { Socket } from 'node:net'
import { SendFault } from './send-fault.ts'

/**
 * Waits until `look`, asked at each `event`, has something. A socket that fails or closes before, or whose signal is
 * aborted, is destroyed, and the promise rejects with what `faultOf` makes of it.
 */
export function awaitSocket<Found>(
  socket: Socket,
  event: 'connect' | 'secureConnect' | 'readable',
  signal: AbortSignal,
  faultOf: (error: Error) => SendFault,
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
      reject(error instanceof SendFault ? error : faultOf(error))
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
