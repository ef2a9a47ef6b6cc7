import { Button, Group, Text } from '@mantine/core'
import { put } from '../../lib/api.ts'
import { showLogo } from '../../lib/logo.ts'
import { mayWrite, useMe } from '../../lib/me.ts'
import { useChange } from '../../lib/queries.ts'
import { confirm } from '../confirm.tsx'
import { UploadButton, UploadError, useImageUpload } from '../image-upload.tsx'
import { Section } from '../section.tsx'

export function LogoSection({ logo }: { logo: string | null }) {
  const mayChange = mayWrite(useMe())
  const set = useChange(
    async (path: string | null) => {
      await put('/system/logo', { path })
      showLogo(path)
    },
    { refresh: ['/system'], done: 'Logo saved' },
  )
  const remove = async () => {
    const text = 'The dashboard and the sign-in pages show the name of the network in its place.'
    if (await confirm({ title: 'Remove the logo?', text, action: 'Remove' })) set.mutate(null)
  }
  const upload = useImageUpload((path) => set.mutate(path))
  return (
    <Section
      title="Logo"
      about="Shown at the top of the dashboard and on the sign-in pages. PNG, JPEG, WebP or GIF, up to 1 MB; at least 72 pixels high looks sharp."
    >
      <Group>
        {logo === null ? (
          <Text c="dimmed">No logo is set.</Text>
        ) : (
          <img src={logo} alt="Current logo" height={36} className="logo" />
        )}
        {mayChange && <UploadButton upload={upload} label={logo === null ? 'Upload logo' : 'Replace logo'} />}
        {mayChange && logo !== null && (
          <Button variant="subtle" color="red" loading={set.isPending} onClick={() => void remove()}>
            Remove logo
          </Button>
        )}
      </Group>
      <UploadError upload={upload} />
    </Section>
  )
}
