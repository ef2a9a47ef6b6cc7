import { Stack } from '@mantine/core'
import { useParams } from 'wouter'
import { isOwner, useMe } from '../../lib/me.ts'
import { useGet } from '../../lib/queries.ts'
import { CredentialSection } from '../../parts/app/credential.tsx'
import { CurrencySection } from '../../parts/app/currency.tsx'
import { isRevoked } from '../../parts/app/data.ts'
import { LeakWarning } from '../../parts/app/leak.tsx'
import { RevokeSection } from '../../parts/app/revoke.tsx'
import { SubIdHelp } from '../../parts/app/sub-ids.tsx'
import { CopyIcon } from '../../parts/copy.tsx'
import { Loaded, Page } from '../../parts/page.tsx'

const EVERY_MS = 3_000 // the allowance is that of the minute that runs

export default function Integration() {
  const { app_id } = useParams<{ app_id: string }>()
  return <IntegrationOf key={app_id} appId={app_id} />
}

function IntegrationOf({ appId }: { appId: string }) {
  const me = useMe()
  const app = useGet(`/apps/${appId}`, { everyMs: EVERY_MS })
  return (
    <Page
      title="Integration"
      about={
        app.data !== undefined && (
          <>
            Keys, secrets and currency of {app.data.name}. The API is at{' '}
            <span style={{ whiteSpace: 'nowrap' }}>
              {app.data.api_url}
              <CopyIcon value={app.data.api_url} label="Copy the API URL" />
            </span>{' '}
            and documented in the <a href="/docs">API reference</a>.
          </>
        )
      }
    >
      <Loaded query={app}>
        {(data) => (
          <Stack gap="lg">
            <LeakWarning app={data} />
            {data.credentials.map((credential) => (
              <CredentialSection key={credential.mode} appId={data.app_id} credential={credential} />
            ))}
            <CurrencySection app={data} />
            <SubIdHelp app={data} />
            {isOwner(me) && !isRevoked(data) && <RevokeSection app={data} />}
          </Stack>
        )}
      </Loaded>
    </Page>
  )
}
