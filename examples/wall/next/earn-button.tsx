'use client'
// Runs in the browser. The secret stays on the server: the user comes signed.
import { useEffect, useRef, useState } from 'react'

type Wall = { on(event: string, listener: (detail: { reward: number }) => void): Wall; close(): void }
declare const Offerdeck: { open(options: Record<string, unknown>): Wall }

export function EarnButton({ user }: { user: { apiKey: string; userId: string; exp: string; sig: string } }) {
  const [coins, setCoins] = useState(0)
  const wall = useRef<Wall | null>(null)
  useEffect(() => () => wall.current?.close(), [])
  const open = () => {
    wall.current = Offerdeck.open({ ...user }).on('credited', ({ reward }) => setCoins((before) => before + reward))
  }
  return <button onClick={open}>Earn coins{coins > 0 && ` (+${coins})`}</button>
}
