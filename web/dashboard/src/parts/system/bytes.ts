const UNITS = ['B', 'kB', 'MB', 'GB', 'TB']

export function formatBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), UNITS.length - 1)
  const number = bytes / 1000 ** power
  return `${number.toLocaleString('en-US', { maximumFractionDigits: number < 10 ? 1 : 0 })} ${UNITS[power]}`
}
