import { type Terminal, terminal } from './terminal.ts'

const WIDTH = 30
const REDRAW_MS = 100

/** A bar on the terminal; silent where there is none. */
export function createProgressBar(stream: Terminal['err'] = terminal().err) {
  let drawnAtMs = 0
  return {
    update(share: number, note: string): void {
      const now = Date.now()
      if (!stream.isTTY || now - drawnAtMs < REDRAW_MS) return
      drawnAtMs = now
      const filled = Math.round(Math.min(share, 1) * WIDTH)
      stream.write(
        `\r\x1b[2K[${'='.repeat(filled)}${' '.repeat(WIDTH - filled)}] ${Math.round(share * 100)} %  ${note}`,
      )
    },
    clear(): void {
      if (stream.isTTY && drawnAtMs > 0) stream.write('\r\x1b[2K')
    },
  }
}
