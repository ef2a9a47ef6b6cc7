import { Group, type MantineSize, Text } from '@mantine/core'
import { useLogo } from '../lib/logo.ts'

type BrandProps = { height: number; /** Of the logo alone. */ alt: string; size?: MantineSize }

/** The network's logo, or the name of the program. */
export function Brand({ height, alt, size = 'md' }: BrandProps) {
  const logo = useLogo()
  if (logo !== null) return <img src={logo} alt={alt} height={height} className="logo" />
  return (
    <Group gap={8} wrap="nowrap">
      <img src="/icon.svg" alt="" width={height} height={height} />
      <Text fw={700} size={size}>
        Offerdeck
      </Text>
    </Group>
  )
}
