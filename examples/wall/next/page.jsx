// The wall in Next (app router): this page signs the user on the server, the button in earn-button.tsx opens the wall.
import Script from 'next/script'
import { signWallUser } from '@offerdeck/client'
import { EarnButton } from './earn-button'

const { OFFERDECK_URL, OFFERDECK_API_KEY, OFFERDECK_SIGNING_SECRET } = process.env

export const dynamic = 'force-dynamic' // a signature is valid for a day at most

export default async function EarnPage() {
  const user = await signWallUser({
    apiKey: OFFERDECK_API_KEY,
    signingSecret: OFFERDECK_SIGNING_SECRET,
    userId: 'user-1', // your own ID of whoever is signed in
  })
  return (
    <main>
      <Script src={`${OFFERDECK_URL}/sdk/v1.js`} />
      <EarnButton user={user} />
    </main>
  )
}
