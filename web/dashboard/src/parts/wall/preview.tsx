// The wall as it will look, while its settings are edited. It runs with the test key: what is pressed in it counts nowhere.
import { Group, Paper, SegmentedControl, Stack, Text } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import type { WalledApp, WallSettings } from './data.ts'
import { testWallUrl } from './data.ts'

const WIDTHS = { Phone: 390, Desktop: 1024 }

type PreviewProps = { app: WalledApp; settings: WallSettings }

export function Preview({ app, settings }: PreviewProps) {
  const frame = useRef<HTMLIFrameElement>(null)
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
    <Stack gap="xs">
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
            onChange={(value) => setTheme(value as 'light' | 'dark')}
          />
        </Group>
      </Group>
      <Paper style={{ overflow: 'hidden', width: width * scale, maxWidth: '100%', height: 640 }}>
        <iframe
          ref={frame}
          title="Preview of the wall"
          src={`${new URL(testWallUrl(app, 'preview-user')).pathname}${new URL(testWallUrl(app, 'preview-user')).search}&embed=1`}
          style={{ width, height: 640 / scale, border: 0, transform: `scale(${scale})`, transformOrigin: 'top left' }}
        />
      </Paper>
    </Stack>
  )
}
