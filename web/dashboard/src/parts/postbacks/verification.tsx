// Code that receives this app's postbacks and refuses what is not signed by us.
import { Anchor, Stack, Tabs, Text } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import { Link } from 'wouter'
import goFile from '../../../../../examples/verify-postback/go.go?raw'
import nodeFile from '../../../../../examples/verify-postback/node.mjs?raw'
import phpFile from '../../../../../examples/verify-postback/php.php?raw'
import pythonFile from '../../../../../examples/verify-postback/python.py?raw'
import { type AppData, keyOf } from '../app/data.ts'
import { useSecret } from '../app/secrets.ts'
import { CopyBlock } from '../copy.tsx'
import { Section } from '../section.tsx'
import { type Language, LANGUAGES, secretNameOf, writeReceiver } from './receiver-code.ts'
import type { SettingsData } from './settings-values.ts'

const FILES: Record<Language, string> = { Node: nodeFile, PHP: phpFile, Python: pythonFile, Go: goFile }

type VerificationProps = { app: AppData; settings: SettingsData['settings'] }

export function VerificationSection({ app, settings }: VerificationProps) {
  const [language, setLanguage] = useLocalStorage<Language>({ key: 'offerdeck.receiver', defaultValue: 'Node' })
  const secretName = secretNameOf(app.name)
  return (
    <Section
      title="Verify postbacks"
      about="Anyone can call your URL. Accept only what is signed with a signing secret of this app."
    >
      {settings === null ? (
        <Text size="sm">Save a postback URL to get code that receives it.</Text>
      ) : isOfAnother(settings) ? (
        <Text size="sm">
          Your server checks the signature of its dialect. Every postback also has Standard Webhooks headers, signed
          with the signing secret of this app: verify those as well if you can.
        </Text>
      ) : (
        <Stack>
          <SecretLine app={app} secretName={secretName} />
          <Tabs
            value={LANGUAGES.includes(language) ? language : 'Node'}
            onChange={(value) => setLanguage((value ?? 'Node') as Language)}
            keepMounted={false}
          >
            <Tabs.List aria-label="Language">
              {LANGUAGES.map((name) => (
                <Tabs.Tab key={name} value={name}>
                  {name}
                </Tabs.Tab>
              ))}
            </Tabs.List>
            {LANGUAGES.map((name) => (
              <Tabs.Panel key={name} value={name} pt="xs">
                <CopyBlock
                  value={writeReceiver(name, FILES[name], { ...settings, secretName })}
                  label={`Copy the ${name} receiver`}
                  isLong
                />
              </Tabs.Panel>
            ))}
          </Tabs>
        </Stack>
      )}
    </Section>
  )
}

/** It was written for another network. */
const isOfAnother = ({ dialect }: NonNullable<SettingsData['settings']>) =>
  dialect.signature !== null || dialect.post_body === 'form'

/** The secrets themselves are there only while they are shown anyway, after they were created. */
function SecretLine({ app, secretName }: { app: AppData; secretName: string }) {
  const [live, test] = [useSecret(keyOf(app, 'live').api_key, 'signing'), useSecret(keyOf(app, 'test').api_key, 'signing')] // prettier-ignore
  const value = `export ${secretName}='${live ?? 'LIVE_SIGNING_SECRET'} ${test ?? 'TEST_SIGNING_SECRET'}'`
  return (
    <div>
      <Text size="sm" mb="xs">
        Set both signing secrets where your server runs. They begin with whsec_; if you have lost one, rotate it under{' '}
        <Anchor component={Link} href={`/apps/${app.app_id}/integration`} inherit underline="always">
          Integration
        </Anchor>
        .
      </Text>
      <CopyBlock value={value} label="Copy the environment variable" />
    </div>
  )
}
