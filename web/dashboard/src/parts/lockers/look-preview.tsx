// How a locker will look, while it is edited. A drawing, not the page: a locker that is not created yet has none.
import { SimpleGrid, Stack, Text } from '@mantine/core'
import type { CSSProperties } from 'react'
import { readWhole } from '../../lib/amounts.ts'
import { contrastOf, type WallSettings } from '../wall/data.ts'
import type { LookValues } from './look-values.ts'

const FONTS: Record<LookValues['font'], CSSProperties['fontFamily']> = {
  system: 'system-ui, sans-serif',
  rounded: 'ui-rounded, system-ui, sans-serif',
  serif: 'ui-serif, serif',
  mono: 'ui-monospace, monospace',
}
const THEMES = { light: 'Light', dark: 'Dark' } as const

type PreviewProps = { look: LookValues; texts: { title: string; text: string; consent: string } }

export function LookPreview({ look, texts }: PreviewProps) {
  const shown = (['light', 'dark'] as const).filter((name) => look.theme === 'auto' || look.theme === name)
  return (
    <Stack gap="xs" pos="sticky" top={80} style={{ alignSelf: 'start' }}>
      <Text fw={600}>Preview</Text>
      <SimpleGrid cols={{ base: 1, sm: shown.length }}>
        {shown.map((name) => (
          <figure key={name} aria-label={`${THEMES[name]} colors`} style={{ margin: 0 }}>
            <Drawing look={look} colors={look[name]} texts={texts} />
          </figure>
        ))}
      </SimpleGrid>
    </Stack>
  )
}

type DrawingProps = PreviewProps & { colors: WallSettings['light'] }

function Drawing({
  look,
  colors: { accent, background, card, text },
  texts: { title, text: words, consent },
}: DrawingProps) {
  // prettier-ignore
  const borderRadius = readWhole(look.radius) ?? 0
  const onAccent = contrastOf(accent, '#000000') > contrastOf(accent, '#ffffff') ? '#000000' : '#ffffff'
  const row = { display: 'flex', gap: 8, alignItems: 'center', justifyContent: 'space-between', marginTop: 12 }
  return (
    <div style={{ padding: 12, background, color: text, fontFamily: FONTS[look.font], overflowWrap: 'anywhere' }}>
      <div style={{ padding: 16, background: card, borderRadius }}>
        <div style={{ fontSize: '1.25rem', fontWeight: 700 }}>{title === '' ? 'Unlock this content' : title}</div>
        {words !== '' && <div>{words}</div>}
        <div style={{ fontWeight: 600, marginTop: 8 }}>Complete an offer to continue.</div>
        {consent !== '' && <div>{consent}</div>}
        <div style={row}>
          <div>
            <b>An offer</b>
            <div style={{ fontSize: '0.875rem' }}>What to do</div>
          </div>
          <span style={{ padding: '8px 14px', background: accent, color: onAccent, borderRadius, fontWeight: 600 }}>
            Start
          </span>
        </div>
      </div>
    </div>
  )
}
