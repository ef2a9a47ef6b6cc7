/** The same function, but a call waits until the one before it is done. */
export function inTurn(work: () => Promise<void>): () => Promise<void> {
  let turn: Promise<void> = Promise.resolve()
  return () => {
    const next = turn.then(work)
    turn = next.catch(() => {}) // its caller gets the error
    return next
  }
}
