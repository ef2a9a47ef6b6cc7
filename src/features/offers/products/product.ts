/** The same app has one name, whichever link to its store is given. Null: none. */
export const readProduct = (text: string): string | null => findApp(text) ?? (text.trim() || null)

/** From a link of an upstream, which may also lead to a page that many offers share: then it says nothing. */
export const readLinkedProduct = (text: string): string =>
  findApp(text) ?? (/^https?:/i.test(text.trim()) ? '' : text.trim())

function findApp(text: string): string | null {
  const url = URL.parse(text.trim())
  if (url === null) return null
  const { hostname, pathname, searchParams } = url
  const [android, ios] = [searchParams.get('id'), /\/id(\d+)/.exec(pathname)?.[1]]
  if (hostname === 'play.google.com' && android) return `android:${android}`
  return /^(itunes|apps)\.apple\.com$/.test(hostname) && ios !== undefined ? `ios:${ios}` : null
}
