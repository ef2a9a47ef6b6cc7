// The dashboard shows this page while its settings are edited, and sends them here. Only a parent of the same origin is
// heard: that is the dashboard.
import type { WallSettings } from '../../src/features/wall/settings-schema.ts'
import { themeOf } from '../../src/features/wall/theme.ts'
import { look } from './boot.ts'

type Preview = { source: 'offerdeck-preview'; settings: WallSettings; theme: 'light' | 'dark' }

export function followPreview(render: () => void): void {
  if (window.parent === window) return
  const sheet = new CSSStyleSheet() // after the page's own, whose theme it replaces
  addEventListener('message', ({ origin, source, data }: MessageEvent<Preview | null>) => {
    if (origin !== location.origin || source !== window.parent || data?.source !== 'offerdeck-preview') return
    const { settings, theme } = data
    sheet.replaceSync(themeOf(settings))
    document.adoptedStyleSheets = [sheet]
    document.documentElement.dataset['theme'] = theme
    const { logo, hero, currency_icon, title, intro, shows } = settings
    Object.assign(look, { logo, hero, currency_icon, title, intro, shows })
    render()
  })
}
