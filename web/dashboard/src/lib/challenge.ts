// Requests that the server answers only after the person has proved who they are: their session has ended, or the
// request needs a fresh proof. Both wait for a dialog over the page, so that nothing on the page is lost, and are sent
// again.
export type Challenge = 'sign-in' | 'proof'
type Dialog = (challenge: Challenge) => Promise<boolean>

const CHALLENGES: Record<string, Challenge> = { NOT_SIGNED_IN: 'sign-in', PROOF_REQUIRED: 'proof' }

let dialog: Dialog | null = null
const open = new Map<Challenge, Promise<boolean>>()

/** The dialog registers itself while it is on the page. */
export function registerDialog(shown: Dialog): () => void {
  dialog = shown
  return () => {
    if (dialog === shown) dialog = null
  }
}

/** Whether the person met the challenge that the server answered with. Requests at the same time share one dialog. */
export async function meetChallenge(code: string): Promise<boolean> {
  const challenge = CHALLENGES[code]
  if (challenge === undefined || dialog === null) return false
  const asked =
    open.get(challenge) ??
    dialog(challenge).finally(() => {
      open.delete(challenge)
    })
  open.set(challenge, asked)
  return asked
}
