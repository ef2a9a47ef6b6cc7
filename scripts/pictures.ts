// The pictures of README.md, from the pages of a running demo. Usage: npm start, then in another terminal
//   node scripts/pictures.ts [URL, http://127.0.0.1:8080]
import { mkdirSync } from 'node:fs'
import { useBrowser } from '../test/chromium.ts'

/** Takes them into this folder. */
export async function takePictures(url: string, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const browser = await useBrowser()
  const context = await browser.newContext({ viewport: { width: 900, height: 620 }, colorScheme: 'light', reducedMotion: 'reduce' }) // prettier-ignore
  const site = await context.newPage()
  await site.goto(`${url}/demo`)
  await site.getByRole('button', { name: 'Show offers' }).click()
  const wall = site.frameLocator('iframe')
  await wall.getByRole('listitem').nth(3).waitFor()
  await site.waitForLoadState('networkidle')
  await site.screenshot({ path: `${folder}/wall.png` })
  await wall.getByRole('listitem').first().click()
  const opened = site.waitForEvent('popup')
  await wall.getByRole('link', { name: 'Start offer' }).click()
  const advertiser = await opened
  await advertiser.getByRole('button', { name: 'Complete' }).first().waitFor()
  await advertiser.setViewportSize({ width: 900, height: 420 })
  await advertiser.screenshot({ path: `${folder}/advertiser.png` })
  await advertiser.getByRole('button', { name: 'Complete' }).first().click()
  await advertiser.getByText('The conversion is approved.').waitFor()
  await site.keyboard.press('Escape')
  await site.locator('#credits li').first().waitFor()
  await site.screenshot({ path: `${folder}/coins.png` })
  await site.getByRole('link', { name: /The lighthouse/ }).click()
  await site.frameLocator('offer-locker iframe').getByRole('link', { name: /^Start/ }).nth(2).waitFor() // prettier-ignore
  await site.waitForLoadState('networkidle')
  await site.setViewportSize({ width: 900, height: 800 })
  await site.screenshot({ path: `${folder}/locker.png` })
  await context.close()
}

if (import.meta.main) {
  await takePictures(process.argv[2] ?? 'http://127.0.0.1:8080', 'docs/pictures')
  await (await useBrowser()).close()
}
