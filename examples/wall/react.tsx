// The wall in React: a button that opens it over the page. Load /sdk/v1.js of your Offerdeck in the page first.
import { useEffect, useRef } from 'react'

type Wall = { on(event: string, listener: (detail: { reward: number }) => void): Wall; close(): void }
declare const Offerdeck: { open(options: Record<string, unknown>): Wall }

/** What your server signed for this user: see examples/sign-wall-user. */
type SignedUser = { apiKey: string; userId: string; exp: number; sig: string }

export function EarnButton({ user, onCredited }: { user: SignedUser; onCredited: (reward: number) => void }) {
  const wall = useRef<Wall | null>(null)
  useEffect(() => () => wall.current?.close(), [])
  const open = () => {
    wall.current = Offerdeck.open({ ...user }).on('credited', ({ reward }) => onCredited(reward))
  }
  return <button onClick={open}>Earn coins</button>
}
