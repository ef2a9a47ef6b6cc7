import { Stack } from '@mantine/core'
import { Page } from '../parts/page.tsx'
import { EmailSection } from '../parts/account/email.tsx'
import { PasswordSection } from '../parts/account/password.tsx'
import { ProfileSection } from '../parts/account/profile.tsx'
import { SessionsSection } from '../parts/account/sessions.tsx'
import { TokensSection } from '../parts/account/tokens.tsx'
import { TwoFactorSection } from '../parts/account/two-factor.tsx'

export default function Account() {
  return (
    <Page title="Your account">
      <Stack gap="lg">
        <ProfileSection />
        <EmailSection />
        <PasswordSection />
        <TwoFactorSection />
        <SessionsSection />
        <TokensSection />
      </Stack>
    </Page>
  )
}
