// A receiver may send `100 Continue` although nothing asked for it, as often as it likes (RFC 9110, 15.2), and undici
// treats that as an error. So undici never sees these: they are cut off the front of a response.
import type { Socket } from 'node:net'

const CONTINUE = /^HTTP\/1\.[01] 100[ \r]/
const START_BYTES = 13
const MAX_HELD_BYTES = 16_384
const END = '\r\n\r\n'
const NOTHING = Buffer.alloc(0)
const STATUS_PLACE = 'HTTP/1.1 '.length

/** Call this when a request is about to be sent; undici receives by `read`. */
export function skipContinues(socket: Socket): () => void {
  const read = socket.read.bind(socket)
  /** What has arrived of a response that may be one; null: the real one has begun. */
  let held: Buffer | null = null
  socket.read = (size?: number) => {
    const chunk = read(size) as Buffer | null
    if (chunk === null || held === null) return chunk
    if (held.length === 0 && beginsAnswer(chunk)) {
      held = null
      return chunk
    }
    held = cutContinues(held.length === 0 ? chunk : Buffer.concat([held, chunk]))
    if (mayBeContinue(held)) return null
    const answer = held
    held = null
    return answer
  }
  return () => {
    held = NOTHING
  }
}

/** Nearly always: enough has arrived to see that the status is not 1xx. */
const beginsAnswer = (bytes: Buffer) =>
  bytes.length >= START_BYTES && bytes[STATUS_PLACE] !== '1'.charCodeAt(0) && bytes[0] === 'H'.charCodeAt(0)

function cutContinues(bytes: Buffer): Buffer {
  let rest = bytes
  for (let end; isContinue(rest) && (end = rest.indexOf(END)) !== -1;) rest = rest.subarray(end + END.length)
  return rest
}

const isContinue = (bytes: Buffer) => CONTINUE.test(bytes.toString('latin1', 0, START_BYTES))

/** Not enough has arrived to tell, or not its end. */
function mayBeContinue(bytes: Buffer): boolean {
  if (bytes.length > MAX_HELD_BYTES) return false
  const start = bytes.toString('latin1', 0, START_BYTES)
  return isContinue(bytes) || 'HTTP/1.0 100 '.startsWith(start) || 'HTTP/1.1 100 '.startsWith(start)
}
