// The look of a wall as CSS.
import type { WallSettings } from './settings-schema.ts'

const FONTS: Record<WallSettings['font'], string> = {
  system: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  rounded: 'ui-rounded, "SF Pro Rounded", "Nunito", "Varela Round", system-ui, sans-serif',
  serif: 'ui-serif, Georgia, "Times New Roman", serif',
  mono: 'ui-monospace, "SF Mono", Menlo, Consolas, monospace',
}

export function themeOf({
  light,
  dark,
  radius,
  font,
}: Pick<WallSettings, 'light' | 'dark' | 'radius' | 'font'>): string {
  const colors = ({ accent, background, card, text }: WallSettings['light']) =>
    `--accent:${accent};--on-accent:${readableOn(accent)};--background:${background};--card:${card};--text:${text}`
  return (
    `:root{${colors(light)};--radius:${radius}px;--font:${FONTS[font]};color-scheme:light}` +
    `:root[data-theme=dark]{${colors(dark)};color-scheme:dark}` +
    `@media (prefers-color-scheme:dark){:root[data-theme=auto]{${colors(dark)};color-scheme:dark}}`
  )
}

/** Black or white, whichever has the better contrast (WCAG 2). */
function readableOn(color: string): '#000000' | '#ffffff' {
  return luminance(color) > 0.179 ? '#000000' : '#ffffff'
}

function luminance(color: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const part = parseInt(color.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
