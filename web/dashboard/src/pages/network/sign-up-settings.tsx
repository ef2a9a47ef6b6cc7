import { useGet } from '../../lib/queries.ts'
import { Loaded, Page } from '../../parts/page.tsx'
import { SignUpSettingsForm } from '../../parts/sign-up/settings-form.tsx'

export default function SignUpSettings() {
  const settings = useGet('/sign-up/settings')
  return (
    <Page
      title="Sign-up settings"
      about="Whether publishers can sign up, what they are asked, and which terms they accept."
    >
      <Loaded query={settings}>{(known) => <SignUpSettingsForm known={known} />}</Loaded>
    </Page>
  )
}
