// The wall in React: a button that opens it over the page. Load /sdk/v1.js of your Offerdeck in the page first, and save its
// types, /sdk/v1.d.ts, as offerdeck.d.ts in your project.
import { useEffect, useRef } from 'react'

/** What your server signed for this user: see examples/sign-wall-user. */
type SignedUser = { apiKey: string; userId: string; exp: number; sig: string }

export function EarnButton({ user, onCredited }: { user: SignedUser; onCredited: (reward: number) => void }) {
  const wall = useRef<Offerdeck.Wall | null>(null)
  useEffect(() => () => wall.current?.close(), [])
  const open = () => {
    wall.current = Offerdeck.open({ ...user }).on('credited', ({ reward }) => onCredited(reward))
  }
  return <button onClick={open}>Earn coins</button>
}
