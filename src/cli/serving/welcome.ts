// What is printed once everything runs.
import type { Config } from '../../config.ts'
import type { DemoApp } from '../demo-app.ts'
import type { DemoPerson } from '../demo.ts'

export type Started = {
  demo: DemoApp | null
  hasDemoSite: boolean
  people: DemoPerson[]
  setUpUrl: string | null
  embeddedIn: string | null
}

export function welcome(
  config: Config,
  only: 'api' | 'worker' | undefined,
  { demo, hasDemoSite, people, setUpUrl, embeddedIn }: Started,
): string {
  if (only === 'worker') return 'Offerdeck worker is running.'
  const url = config.publicUrl
  const lines = ['', `Offerdeck is running at  ${url}`, `API reference            ${url}/docs`]
  if (hasDemoSite) lines.push(`Try it as a user         ${url}/demo`)
  if (embeddedIn !== null) lines.push(`Database files           ${embeddedIn}`)
  if (setUpUrl !== null) lines.push('', 'Create your operator account with this link. It works once:', `  ${setUpUrl}`)
  if (people.length > 0)
    lines.push(
      '',
      'Dashboard accounts:',
      ...people.map(({ about, email, password }) => `  ${about.padEnd(10)}  ${email}  ${password}`),
    )
  if (demo !== null) {
    lines.push(
      '',
      'Demo app:',
      `  API key     ${demo.live.api_key}`,
      `  API secret  ${demo.live.api_secret}`,
      `  Signing     ${demo.live.signing_secret}`,
      'Test credentials, which move no money:',
      `  API key     ${demo.test.api_key}`,
      `  API secret  ${demo.test.api_secret}`,
      `  Signing     ${demo.test.signing_secret}`,
      '',
      'Your first request:',
      `  curl '${url}/api/v1/offers?userId=user-1&country=US&limit=2' -H 'X-API-Key: ${demo.live.api_key}' -H 'X-API-Secret: ${demo.live.api_secret}'`,
      '',
      "The demo app's postbacks go to port 8088 on this machine. To see them, run in another terminal:",
      '  npx offerdeck listen',
    )
  }
  return [...lines, '', 'Press Ctrl-C to stop.', ''].join('\n')
}
