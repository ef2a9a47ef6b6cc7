// The wall as it will look, while its settings are edited. It runs with the test key: what is pressed in it counts nowhere.
import { Group, Paper, SegmentedControl, Stack, Text } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { useGet } from '../../lib/queries.ts'
import { Loaded } from '../page.tsx'
import type { WallSettings } from './data.ts'

const WIDTHS = { Phone: 390, Desktop: 1024 }

type PreviewProps = { appId: string; settings: WallSettings }

export function Preview({ appId, settings }: PreviewProps) {
  const preview = useGet(`/apps/${appId}/wall/preview`)
  return <Loaded query={preview}>{({ path }) => <Frame path={path} settings={settings} />}</Loaded>
}

function Frame({ path, settings }: { path: string; settings: WallSettings }) {
  const frame = useRef<HTMLIFrameElement>(null)
  const [src] = useState(path) // another signature would load it anew
  const [device, setDevice] = useState<keyof typeof WIDTHS>('Phone')
  const [theme, setTheme] = useState<'light' | 'dark'>('light')
  useEffect(() => {
    const target = frame.current?.contentWindow
    const show = () => target?.postMessage({ source: 'offerdeck-preview', settings, theme }, location.origin)
    const onReady = ({ source, data }: MessageEvent<{ event?: string } | null>) => {
      if (source === target && data?.event === 'ready') show()
    }
    show()
    addEventListener('message', onReady)
    return () => removeEventListener('message', onReady)
  })
  const width = WIDTHS[device]
  const scale = Math.min(1, 480 / width)
  return (
    <Stack gap="xs" pos="sticky" top={80} style={{ alignSelf: 'start' }}>
      <Group justify="space-between">
        <Text fw={600}>Preview</Text>
        <Group gap="xs">
          <SegmentedControl
            aria-label="Width"
            data={Object.keys(WIDTHS)}
            value={device}
            onChange={(value) => setDevice(value as keyof typeof WIDTHS)}
          />
          <SegmentedControl
            aria-label="Preview theme"
            data={[
              { value: 'light', label: 'Light' },
              { value: 'dark', label: 'Dark' },
            ]}
            value={theme}
            onChange={setTheme}
          />
        </Group>
      </Group>
      <Paper p={0} style={{ overflow: 'hidden', width: width * scale, maxWidth: '100%', height: 640 }}>
        <iframe
          ref={frame}
          title="Preview of the wall"
          src={src}
          style={{ width, height: 640 / scale, border: 0, transform: `scale(${scale})`, transformOrigin: 'top left' }}
        />
      </Paper>
    </Stack>
  )
}
