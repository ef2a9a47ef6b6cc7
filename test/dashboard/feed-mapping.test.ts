// The form of a feed's mapping in a real browser: its sections, and that it has what mappings have.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import type { Mapping } from '../../src/features/feeds/mapping/mapping.ts'
import { presetOf } from '../../src/features/feeds/presets/presets.ts'
import { becomes, checkLooks, useDashboard } from './browser.ts'

const dashboard = useDashboard('e2e_feed_mapping')

const SECTIONS = ['Offers', 'Link', 'Payment', 'Texts', 'Where it runs', 'Type', 'Caps', 'Skipped']
const section = (page: Page, title: string) => page.getByRole('heading', { level: 3 }).getByRole('button', { name: new RegExp(`^${title} `) }) // prettier-ignore
const field = (page: Page, place: string) => page.locator(`input[data-path='mapping.${place}'], [data-path='mapping.${place}'] input`) // prettier-ignore
const openOnes = async (page: Page) => {
  const states = await Promise.all(SECTIONS.map((title) => section(page, title).getAttribute('aria-expanded')))
  return SECTIONS.filter((_, i) => states[i] === 'true')
}
const copyOf = (preset: string) => `/network/feeds/new?copy=${preset}`
/** What the form has made of it. */
async function mappingOf(page: Page): Promise<Mapping> {
  await page.getByText('JSON', { exact: true }).click()
  const text = await page.getByRole('textbox', { name: 'Mapping' }).inputValue()
  await page.getByText('Form', { exact: true }).click()
  return JSON.parse(text) as Mapping
}

test('a copied mapping shows its sections closed: they open by the keyboard, and where something is wrong', async () => {
  const { page, complaints } = await dashboard.signIn('operator', null, { at: copyOf('affise') })
  await section(page, 'Payment').getByText('Goals, Percentages (1)').waitFor()
  assert.deepEqual(await openOnes(page), ['Offers'])
  await field(page, 'description').waitFor({ state: 'hidden' })
  await section(page, 'Payment').press('ArrowDown')
  await page.keyboard.press('Enter')
  await field(page, 'description').waitFor()
  await page.keyboard.press('Space')
  await field(page, 'description').waitFor({ state: 'hidden' })
  await checkLooks(page)

  await section(page, 'Where it runs').click()
  await field(page, 'starts_at').fill('start[')
  await section(page, 'Where it runs').getByText('1 problem').waitFor()
  await section(page, 'Where it runs').click()
  assert.deepEqual(await openOnes(page), ['Offers'], 'what a person closes stays closed')
  await page.getByLabel('Share for publishers').fill('50')
  for (const name of ['key', 'tenant']) await page.getByLabel(`Value of ${name}`).fill('acme')
  await page.getByRole('button', { name: 'Add feed' }).click()
  await becomes(() => page.evaluate<string>(`document.activeElement.dataset.path ?? ''`), 'mapping.starts_at')
  assert.deepEqual(await openOnes(page), ['Offers', 'Where it runs'])
  complaints.length = 0 // a refused request is reported as an error, too

  const { link, ...rest } = await mappingOf(page)
  await page.getByText('JSON', { exact: true }).click()
  await page.getByRole('textbox', { name: 'Mapping' }).fill(JSON.stringify({ ...rest, starts_at: 'start', link: { path: link.path } })) // prettier-ignore
  await page.getByText('Form', { exact: true }).click()
  await section(page, 'Link').getByText('1 problem').waitFor()
  assert.deepEqual(await openOnes(page), ['Offers', 'Link', 'Where it runs'])
  await page.getByRole('button', { name: 'Open all sections' }).click()
  assert.deepEqual(await openOnes(page), SECTIONS)
  await checkLooks(page)
  await page.getByRole('button', { name: 'Close all sections' }).click()
  assert.deepEqual(await openOnes(page), [])
  assert.deepEqual(complaints, [])
})

test('the form has all of payouts by country, and the currencies of goals and caps', async () => {
  const { page, complaints } = await dashboard.signIn('operator', null, { at: copyOf('affise') })
  await section(page, 'Where it runs').click()
  const values = ['list', 'of', 'negated', 'platforms'].map((name) => field(page, `by_country.${name}`).inputValue())
  assert.deepEqual(await Promise.all(values), ['payments', 'goal', 'country_exclude', 'os[]'])
  await field(page, 'by_country.of').fill('goal_id')
  await page.getByRole('button', { name: 'Add list: List of payouts by country' }).click()
  await field(page, 'by_country.list#1').fill('goals[].payouts')
  await field(page, 'by_country.platforms').fill('systems[]')
  await page.getByRole('button', { name: 'Remove this condition' }).click()
  await section(page, 'Payment').click()
  await field(page, 'goals.currency').fill('money')
  await section(page, 'Caps').click()
  await page.getByRole('button', { name: 'Add cap' }).click()
  const { mapping } = presetOf('affise')!
  const at = mapping.caps?.length ?? 0
  await field(page, `caps[${at}].currency`).waitFor({ state: 'detached' })
  await page.getByRole('combobox', { name: `What cap ${at + 1} counts` }).click()
  await page.getByRole('option', { name: 'revenue' }).click()
  await field(page, `caps[${at}].value`).fill('budget')
  await field(page, `caps[${at}].currency`).fill('budget_currency')
  const made = await mappingOf(page)
  const { negated: _negated, ...by } = mapping.by_country!
  assert.deepEqual(made.by_country, { ...by, list: ['payments', 'goals[].payouts'], of: 'goal_id', platforms: { ...by.platforms, path: 'systems[]' } }) // prettier-ignore
  assert.equal(made.goals?.currency, 'money')
  assert.deepEqual(made.caps?.at(-1), { value: 'budget', period: 'day', of: 'revenue', currency: 'budget_currency' })
  assert.deepEqual(complaints, [])
})

test('platforms that are excluded have a field, with a problem of its own', async () => {
  const { page, complaints } = await dashboard.signIn('operator', null, { at: copyOf('everflow') })
  await section(page, 'Where it runs').click()
  const { platforms } = presetOf('everflow')!.mapping
  assert.equal(await field(page, 'platforms.exclude').inputValue(), platforms?.exclude)
  await field(page, 'platforms.exclude').fill('not[')
  await becomes(() => page.locator('[aria-invalid=true]').count(), 1, 'at its own field only')
  await page.getByRole('button', { name: 'Add fallback path: Excluded platforms' }).click()
  await field(page, 'platforms.exclude').fill('blocked[]')
  await field(page, 'platforms.exclude#1').fill('not_on[]')
  assert.deepEqual((await mappingOf(page)).platforms, { ...platforms, exclude: ['blocked[]', 'not_on[]'] })
  assert.deepEqual(complaints, [])
})
