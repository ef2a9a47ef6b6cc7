// The dashboard shows this page while its settings are edited, and sends them here. Only a parent of the same origin is
// heard: that is the dashboard.
import type { WallSettings } from '../../src/features/wall/settings-schema.ts'
import { look } from './boot.ts'

type Preview = { source: 'offerdeck-preview'; settings: WallSettings; theme: 'light' | 'dark' }

export function followPreview(render: () => void): void {
  if (window.parent === window) return
  addEventListener('message', ({ origin, source, data }: MessageEvent<Preview | null>) => {
    if (origin !== location.origin || source !== window.parent || data?.source !== 'offerdeck-preview') return
    const { settings, theme } = data
    const { style } = document.documentElement
    for (const [name, color] of Object.entries(settings[theme])) style.setProperty(`--${name}`, color)
    style.setProperty('--radius', `${settings.radius}px`)
    style.setProperty('--font', FONTS[settings.font])
    document.documentElement.dataset['theme'] = theme
    const { logo, hero, currency_icon, title, intro, shows } = settings
    Object.assign(look, { logo, hero, currency_icon, title, intro, shows })
    render()
  })
}

const FONTS = { system: 'system-ui', rounded: 'ui-rounded, system-ui', serif: 'ui-serif, Georgia, serif', mono: 'ui-monospace, monospace' } // prettier-ignore
