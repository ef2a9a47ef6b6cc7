'use client'
// Runs in the browser. The secret stays on the server: the user comes signed. The types of the SDK come with the client:
// "types": ["@offerdeck/client/sdk"] in the compilerOptions of tsconfig.json.
import { useEffect, useRef, useState } from 'react'

export function EarnButton({ user }: { user: { apiKey: string; userId: string; exp: string; sig: string } }) {
  const [coins, setCoins] = useState(0)
  const wall = useRef<Offerdeck.Wall | null>(null)
  useEffect(() => () => wall.current?.close(), [])
  const open = () => {
    wall.current = Offerdeck.open({ ...user }).on('credited', ({ reward }) => setCoins((before) => before + reward))
  }
  return <button onClick={open}>Earn coins{coins > 0 && ` (+${coins})`}</button>
}
