import { Anchor } from '@mantine/core'
import { remove } from '../lib/api.ts'
import { TwoFactorSection } from '../parts/account/two-factor.tsx'
import { Door } from '../parts/door.tsx'

/** For operators of a network that requires a second factor: until it is on, they see nothing else. */
export default function SetUpTwoFactor() {
  const signOut = async () => {
    await remove('/session').catch(() => {})
    window.location.assign('/sign-in')
  }
  return (
    <Door
      title="Set up two-factor sign-in"
      about="This network requires two-factor sign-in for operators. Setup takes a minute."
    >
      <TwoFactorSection />
      <Anchor component="button" size="sm" ta="left" onClick={() => void signOut()}>
        Sign out
      </Anchor>
    </Door>
  )
}
