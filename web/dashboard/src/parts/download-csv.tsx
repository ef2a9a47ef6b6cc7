import { Button } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'

/** `href`: of a file, as `fileUrl` has it. */
export const DownloadCsv = ({ href }: { href: string }) => (
  <Button component="a" href={href} download variant="default" leftSection={<IconDownload size={16} />}>
    Download CSV
  </Button>
)
