import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isTimeZone } from '../../lib/time-zone.ts'
import { listDays, startOfDay } from './days.ts'

const QUARTER_MS = 900_000
const begins = (zone: string, date: string) => new Date(startOfDay(zone, date)).toISOString().slice(0, 16)

test('a day begins when its date does, in zones of whole, half and quarter hours', () => {
  assert.equal(begins('UTC', '2026-01-31'), '2026-01-31T00:00')
  assert.equal(begins('Asia/Kathmandu', '2026-01-31'), '2026-01-30T18:15')
  assert.equal(begins('Asia/Kolkata', '2026-01-31'), '2026-01-30T18:30')
  assert.equal(begins('Pacific/Kiritimati', '2026-01-31'), '2026-01-30T10:00')
  assert.equal(begins('Pacific/Pago_Pago', '2026-01-31'), '2026-01-31T11:00')
  assert.equal(begins('America/New_York', '2026-03-08'), '2026-03-08T05:00')
  assert.equal(begins('America/New_York', '2026-03-09'), '2026-03-09T04:00')
  assert.equal(begins('CET', '2026-07-01'), '2026-06-30T22:00')
})

test('a day without a midnight begins an hour late, and one with two begins with the first', () => {
  assert.equal(begins('Africa/Cairo', '2026-04-24'), '2026-04-23T22:00') // 00:00 becomes 01:00
  assert.equal(begins('Atlantic/Azores', '2026-10-25'), '2026-10-25T00:00') // 01:00 becomes 00:00
  assert.equal(begins('America/Havana', '2026-11-01'), '2026-11-01T04:00')
})

test('a date that a zone left out is not among its days', () => {
  const days = listDays('Pacific/Apia', Date.UTC(2011, 11, 29, 10), Date.UTC(2012, 0, 1))
  assert.deepEqual(
    days.map(({ day }) => day),
    ['2011-12-29', '2011-12-31', '2012-01-01'],
  )
  assert.equal(startOfDay('Pacific/Apia', '2011-12-30'), startOfDay('Pacific/Apia', '2011-12-31'))
})

test('a name of a zone is known in any case; offsets and inventions are not names', () => {
  for (const name of ['UTC', 'europe/berlin', 'Asia/Kolkata', 'Asia/Calcutta', 'EST5EDT'])
    assert.ok(isTimeZone(name), name)
  for (const name of ['', '+02:00', '-0500', 'GMT+2', 'Mars/Base', 'UTC\0', "UTC'"]) assert.ok(!isTimeZone(name), name)
})

test('every moment of a range belongs to the day that a clock there shows', () => {
  const zones = [
    'UTC', 'Asia/Kathmandu', 'America/New_York', 'Atlantic/Azores', 'America/Havana', 'America/Sao_Paulo', 'Africa/Cairo',
    'Asia/Beirut', 'Australia/Lord_Howe', 'Antarctica/Troll', 'America/St_Johns', 'Pacific/Chatham', 'Pacific/Apia',
  ] // prettier-ignore
  const from = fc.integer({ min: Date.UTC(2012, 0, 1) / 1000, max: Date.UTC(2030, 0, 1) / 1000 })
  fc.assert(
    fc.property(fc.constantFrom(...zones), from, fc.integer({ min: 1, max: 86_400 * 300 }), (zone, start, seconds) => {
      const fromMs = start * 1000
      const toMs = fromMs + seconds * 1000
      const days = listDays(zone, fromMs, toMs)
      const clock = new Intl.DateTimeFormat('en-GB', { timeZone: zone, dateStyle: 'short' })
      const dateAt = (ms: number) => clock.format(ms).split('/').toReversed().join('-')
      assert.equal(days[0]?.startsMs, fromMs)
      for (const [i, { day, startsMs }] of days.entries()) {
        const endsMs = days[i + 1]?.startsMs ?? toMs
        assert.equal(dateAt(startsMs), day)
        assert.equal(dateAt(endsMs - 1), day)
        if (i > 0) assert.notEqual(dateAt(startsMs - 1), day)
        if (i > 0) assert.equal(startsMs % QUARTER_MS, 0)
        if (i > 0) assert.equal(startOfDay(zone, day), startsMs)
      }
    }),
  )
})
