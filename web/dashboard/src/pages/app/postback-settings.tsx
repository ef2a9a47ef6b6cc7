import { Alert, Stack } from '@mantine/core'
import { useParams } from 'wouter'
import { useGet } from '../../lib/queries.ts'
import { Loaded, Page } from '../../parts/page.tsx'
import { MacroTable } from '../../parts/postbacks/macros.tsx'
import { SettingsForm } from '../../parts/postbacks/settings-form.tsx'
import { TestSendsSection } from '../../parts/postbacks/test-sends.tsx'
import { VerificationSection } from '../../parts/postbacks/verification.tsx'

export default function PostbackSettings() {
  const { app_id } = useParams<{ app_id: string }>()
  const base = `/apps/${app_id}` as const
  const settings = useGet(`${base}/postback`)
  const app = useGet(base)
  return (
    <Page title="Postback settings" about="Where and how conversions are sent to your server.">
      <Loaded query={settings}>
        {(data) => (
          <Stack gap="lg">
            {data.is_unreadable && (
              <Alert color="red" title="The saved settings can’t be decrypted">
                The network’s encryption key has changed. Enter the settings again, including all headers.
              </Alert>
            )}
            {/* Never what was saved for another app. */}
            {!settings.isPlaceholderData && <SettingsForm key={base} base={base} data={data} />}
            <MacroTable macros={data.macros} />
            {app.data !== undefined && <VerificationSection app={app.data} settings={data.settings} />}
            <TestSendsSection base={base} data={data} />
          </Stack>
        )}
      </Loaded>
    </Page>
  )
}
