// How visitors come to a locker: code for a page, or a URL to share.
import { Anchor } from '@mantine/core'
import { CodeTabs } from '../code-tabs.tsx'
import { CopyBlock } from '../copy.tsx'
import { Section } from '../section.tsx'
import type { Locker } from './data.ts'

export const LockerCode = ({ locker, server }: { locker: Locker; server: string }) =>
  locker.url === null ? <ContentCode lockerId={locker.locker_id} server={server} /> : <LinkCode url={locker.url} />

function LinkCode({ url }: { url: string }) {
  return (
    <Section
      title="Share the link"
      about="Visitors see the destination only after they unlock the link."
      action={
        <Anchor href={url} target="_blank" rel="noreferrer">
          Open the link
        </Anchor>
      }
    >
      <CopyBlock value={url} label="Copy the link" />
    </Section>
  )
}

function ContentCode({ lockerId, server }: { lockerId: number; server: string }) {
  const script = `<script src="${server}/locker/v1.js"></script>`
  const codes = [
    {
      name: 'Cover content',
      about: 'Quick, but the content is only hidden: anyone who reads the page source can find it.',
      code: `${script}
<offer-locker locker="${lockerId}">
  <p>Locked content</p>
</offer-locker>`,
    },
    {
      name: 'Withhold content',
      about: 'Your server redeems the proof with its API secret, and sends the content only if that succeeds.',
      code: `${script}
<offer-locker locker="${lockerId}"></offer-locker>
<div id="content"></div>
<script>
  document.querySelector('offer-locker').addEventListener('unlocked', async ({ detail }) => {
    const response = await fetch('/content', { method: 'POST', body: detail.proof })
    document.querySelector('#content').textContent = await response.text()
  })
</script>`,
    },
    {
      name: 'On your server',
      about: 'Deliver only when "redeemed" is true: a proof is redeemed once.',
      code: `curl -X POST ${server}/api/v1/lockers/${lockerId}/redeem \\
  -H 'X-API-Key: YOUR_API_KEY' -H 'X-API-Secret: YOUR_API_SECRET' \\
  -H 'Content-Type: application/json' -d '{"proof": "PROOF"}'`,
    },
  ]
  return (
    <Section
      title="Add it to your page"
      action={
        <Anchor href={`${server}/locker?locker=${lockerId}&test=1`} target="_blank" rel="noreferrer">
          Open in test mode
        </Anchor>
      }
    >
      <CodeTabs codes={codes} />
    </Section>
  )
}
