// Proving again who one is: the server asks for it before anything that makes people, tokens, secrets or ways in. Whoever
// sent the request waits for a dialog, and the request is repeated.
type Ask = () => Promise<boolean>

let ask: Ask | null = null
let asking: Promise<boolean> | null = null

/** The dialog registers itself while it is on the page. */
export function registerProofDialog(dialog: Ask): () => void {
  ask = dialog
  return () => {
    if (ask === dialog) ask = null
  }
}

/** Whether somebody proved it. Requests that need it at the same time share one dialog. */
export async function askForProof(): Promise<boolean> {
  asking ??= (ask?.() ?? Promise.resolve(false)).finally(() => {
    asking = null
  })
  return asking
}
