// The dashboard's days and clock times, where clocks are set.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { checkAmount, readAmount } from '../web/dashboard/src/lib/amounts.ts'
import {
  formatBytes,
  formatCents,
  formatPeriod,
  formatReward,
  formatUpTo,
  setFormats,
} from '../web/dashboard/src/lib/format.ts'
import { fromClockTime, startOfDay, toClockTime, todayIn } from '../web/dashboard/src/lib/zoned-time.ts'
import { daysOf } from '../web/dashboard/src/parts/reports/days.ts'

const live = (locale: string | null, time_zone: string | null) => setFormats({ locale, time_zone })
after(() => live(null, null))

test('a clock time is a moment and back, in any zone and where clocks are set', () => {
  for (const [zone, clock, moment] of [
    ['UTC', '2026-03-01T12:30', '2026-03-01T12:30:00.000Z'],
    ['Asia/Kathmandu', '2026-03-01T00:00', '2026-02-28T18:15:00.000Z'],
    ['Pacific/Kiritimati', '2026-01-01T00:00:07', '2025-12-31T10:00:07.000Z'],
    ['Europe/Berlin', '2026-10-25T02:30', '2026-10-25T00:30:00.000Z'], // twice: the first
  ] as const) {
    live('de-DE', zone)
    assert.equal(fromClockTime(clock), moment, zone)
    assert.equal(toClockTime(moment), clock, zone)
  }
  live(null, 'Europe/Berlin')
  assert.equal(fromClockTime('2026-03-29T02:30'), '2026-03-29T01:30:00.000Z') // skipped: 03:30 there
  assert.deepEqual([fromClockTime(''), fromClockTime('soon'), toClockTime(null), toClockTime('soon')], [null, null, '', '']) // prettier-ignore
})

test('a day begins at its first moment, also where midnight is skipped or comes twice', () => {
  live(null, 'America/Havana') // 0:00 is skipped in March, and comes twice in November
  assert.equal(startOfDay('2026-03-08'), '2026-03-08T05:00:00.000Z')
  assert.equal(startOfDay('2026-10-31', 1), '2026-11-01T04:00:00.000Z')
  assert.deepEqual([startOfDay(undefined), startOfDay('x')], [undefined, undefined])
})

test('presets are days of the zone, also where months, years and zones meet', () => {
  const presets = (zone: string, now: string) =>
    (['today', 'yesterday', 'month', 'last_month', '7'] as const).map((name) =>
      daysOf(name, todayIn(zone, new Date(now))).join(' '),
    )
  assert.deepEqual(presets('UTC', '2026-03-15T12:00Z'), ['2026-03-15 2026-03-15', '2026-03-14 2026-03-14', '2026-03-01 2026-03-15', '2026-02-01 2026-02-28', '2026-03-09 2026-03-15']) // prettier-ignore
  // The same moment is the end of a year here, and its successor there.
  assert.deepEqual(presets('America/Los_Angeles', '2028-01-01T05:00Z').slice(0, 4), ['2027-12-31 2027-12-31', '2027-12-30 2027-12-30', '2027-12-01 2027-12-31', '2027-11-01 2027-11-30']) // prettier-ignore
  assert.deepEqual(presets('Pacific/Kiritimati', '2028-01-01T05:00Z').slice(0, 4), ['2028-01-01 2028-01-01', '2027-12-31 2027-12-31', '2028-01-01 2028-01-01', '2027-12-01 2027-12-31']) // prettier-ignore
  assert.equal(presets('UTC', '2028-03-31T23:59:59Z')[3], '2028-02-01 2028-02-29')
  // The day that clocks are set has 23 hours, and is a day like others.
  assert.deepEqual(presets('Europe/Berlin', '2026-03-29T22:30Z').slice(0, 2), ['2026-03-30 2026-03-30', '2026-03-29 2026-03-29']) // prettier-ignore
})

test('the first and the last day of the calendar are times like others', () => {
  live('en-US', 'UTC')
  for (const clock of ['0001-01-01T00:00', '9999-12-31T23:59']) assert.equal(fromClockTime(clock), `${clock}:00.000Z`)
})

test('an unknown zone or language is that of the browser', () => {
  live('en-US', 'UTC')
  assert.equal(formatCents(1234.567), '$1,234.56')
  live('de-DE', 'Mars/Base')
  assert.deepEqual([formatCents(1234.567), formatReward(0.12345, 'Coins')], ['1.234,56\u00a0$', '0,1235 Coins'])
  assert.deepEqual([formatBytes(1500), formatPeriod('2026-03-10'), formatPeriod('2026-03')], ['1,5 kB', '10. März', 'März 2026']) // prettier-ignore
})

test('an amount that the language of numbers reads otherwise is refused', () => {
  live('en-US', null)
  assert.deepEqual([readAmount('1.234'), readAmount('1,234'), readAmount('1,23')], [1.234, 1234, null])
  live('de-DE', null)
  assert.deepEqual([readAmount('1.234'), readAmount('1.2340'), readAmount('0.125'), readAmount('1234.56')], [null, 1.234, 0.125, 1234.56]) // prettier-ignore
  assert.equal(checkAmount('1.234'), 'Enter 1234, or 1.2340 for a fraction.')
})

test('what is counted up to a limit is shown up to it', () => {
  live('en-US', 'UTC')
  assert.deepEqual([99, 100, 5_000].map((count) => formatUpTo(count, 100)), ['99', '100+', '100+']) // prettier-ignore
})
