// Histories that begin as money goes wrong: something is recorded, something changes, and it is spoken of once more. Each
// plot is a few beats whose details are random, with random steps between and after them.
import fc from 'fast-check'
import { type AmountText, type Caps, HOUR_S, type Order, type Start, type Status, type Step } from './actions.ts'
import { again, arrive, ban, click, confirm, diesAt, drop, edit, erase, move, often, report, reprice, round, setCaps, share, start, steps, txn } from './random.ts' // prettier-ignore

export type History = { begin: Start; steps: Step[] }
type Beat = fc.Arbitrary<Step[]>

const is = <T>(value: T) => fc.constant(value)
const soon = often(1, 60, 600)
const hours = (...some: number[]) => fc.constantFrom(...some.map((n) => n * HOUR_S))

const then = (order: fc.Arbitrary<Order>, waitS: fc.Arbitrary<number> = soon): Beat =>
  fc.tuple(waitS, order, diesAt).map(([s, one, at]) => [{ waitS: s, tracks: [[one]], diesAt: at }])
const inTurn = (...beats: Beat[]): Beat => fc.tuple(...beats).map((all) => all.flat())
const maybe = (...beats: Beat[]): Beat => fc.oneof(is([]), inTurn(...beats))
const mostly = (beat: Beat): Beat => fc.oneof({ weight: 4, arbitrary: beat }, { weight: 1, arbitrary: is([]) })
const either = (...beats: Beat[]): Beat => fc.oneof(...beats)

const live = { isTest: is(false) }
const stored = { ...live, isLate: is(false) }
const clicks = then(click(stored))
const firstGoal = { goal: is<number | null>(null) }
const reports = (waitS?: fc.Arbitrary<number>) =>
  then(report({ ...live, goal: often<number | null>(null, 0, 1), txn: often<string | null>('t1', null), key: is(null) }), waitS) // prettier-ignore
type Said = NonNullable<Parameters<typeof confirm>[0]>
const plain: Said = {
  click: is(0),
  goal: often<number | null>(null, 0, 1),
  txn: often<string | null>('t1', 't2', null),
  amount: often<AmountText | null>(null, '12.3456', '1.23456', '1,234'),
  isAgain: is(false),
  isStranger: is(false),
  isClickless: is(false),
}
/** The advertiser speaks of the latest click. */
const confirms = (said: Said, waitS?: fc.Arbitrary<number>) => then(confirm({ ...plain, ...said }), waitS)
const yes = { status: is<Status>('approved') }
const pending = { status: is<Status>('pending') }
const amount = fc.constantFrom<AmountText>('0.9999', '1.23456', '12.3456', '20')
const no = { status: fc.constantFrom<Status>('reversed', 'rejected'), amount: often<AmountText | null>(null, '-5', '(20.00)', '1.23456') } // prettier-ignore
const saysNo = confirms({ ...no, txn: is('t1'), goal: is(null), amount: often('-5', '(20.00)', '1,234') })
/** The same again, or the opposite of it. */
const repeats = (waitS?: fc.Arbitrary<number>) =>
  then(again({ call: often(0, 1), status: often<Status | null>(null, 'reversed') }), waitS)
const takesBack = either(
  then(again({ call: is(0), status: is('reversed') })),
  confirms({ ...no, txn: is('t1') }),
  then(move({ conversion: is(0), to: is('reversed'), isFraud: often(false, true) })),
)
const edits = then(edit({ change: fc.constantFrom('add', 'add', 'first', 'rename', 'rename', 'retire', 'repeatable') }))
const worker = (waitS: fc.Arbitrary<number>) => then(round(), waitS)

const NO_CAPS: Caps = { dailyClicks: null, totalClicks: null, dailyConversions: null, totalConversions: null, dailyPayoutMicros: null, totalPayoutMicros: null, dailyRevenueMicros: null, totalRevenueMicros: null } // prettier-ignore
const uncapped = is([NO_CAPS, NO_CAPS, NO_CAPS])
const budget: fc.Arbitrary<Caps> = fc
  .tuple(fc.constantFrom('day', 'total', 'both'), often(1_200_000, 1_000_000, 1_500_000), often(false, true))
  .map(([of, micros, isOfAdvertiser]) => {
    const daily = of === 'total' ? null : micros
    const total = of === 'day' ? null : of === 'total' ? micros : 2 * micros
    const twice = (cap: number | null) => (cap === null ? null : 2 * cap) // as revenue is of the payout
    return isOfAdvertiser
      ? { ...NO_CAPS, dailyRevenueMicros: twice(daily), totalRevenueMicros: twice(total) }
      : { ...NO_CAPS, dailyPayoutMicros: daily, totalPayoutMicros: total }
  })

/** About one user and one offer, without caps and fraud, unless the plot says otherwise. */
const plot = (beats: Beat[], begin: Parameters<typeof start>[0] = {}): fc.Arbitrary<History> =>
  fc.record({
    begin: start({ caps: uncapped, tooFastS: is(0), onlyOffer: fc.nat({ max: 2 }), onlyPerson: often(0, 1, 2), ...begin }), // prettier-ignore
    steps: inTurn(...beats.flatMap((beat) => [noise, beat]), steps(1, 0, 3)),
  })
/** The same about a goal that pays a share of the amount: of an offer that has only that, or of one that holds and has two. */
const ofShare = (beats: (said: Said) => Beat[], begin: Parameters<typeof start>[0] = {}): fc.Arbitrary<History> =>
  fc.oneof(
    plot(beats({ goal: often<number | null>(null, 0), txn: is('t1') }), { ...begin, onlyOffer: is(0) }),
    plot(beats({ goal: is(1), txn: is('t1') }), { ...begin, onlyOffer: is(2) }),
  )
const noise: Beat = fc.oneof({ weight: 5, arbitrary: is([]) }, { weight: 1, arbitrary: steps(1, 1, 1) })

export const PLOTS: Record<string, fc.Arbitrary<History>> = {
  'the catalogue changes between two calls that say the same': plot([
    clicks,
    confirms({}),
    edits,
    maybe(edits),
    repeats(),
  ]),
  'the catalogue changes between two reports that say the same': plot([maybe(clicks), reports(), edits, maybe(edits), then(again({ call: is(0) }))]), // prettier-ignore
  'the click is dropped before the last word on it': plot([
    clicks,
    maybe(reports()),
    confirms({ status: fc.constantFrom('pending', 'approved'), txn: often<string | null>('t1', null, null, null) }),
    then(drop(), hours(300)),
    either(
      then(again({ call: is(0), status: fc.constantFrom('approved', 'reversed') })),
      confirms({ txn: is('t1'), isClickless: is(true) }),
    ),
  ]),
  'the advertiser is quicker than the click': plot(
    [
      then(click({ ...live, isLate: is(true) })),
      maybe(reports()),
      confirms({ status: often<Status>('approved', 'pending'), txn: is('t1') }),
      maybe(either(confirms({ txn: is('t1') }), confirms({ ...no, txn: is('t1') }))),
      then(arrive(), hours(0.1, 2, 2, 50, 71, 80)),
      maybe(then(again({ call: is(0), status: often<Status | null>('reversed', 'approved', null) }))),
      then(arrive({ isLookedFor: is(true) })),
      repeats(),
    ],
    { tooFastS: often(0, 30), onlyOffer: often(0, 1, 2) },
  ),
  'several amounts are sent before the yes': ofShare((said) => [
    clicks,
    maybe(reports()),
    confirms({ ...said, ...pending, amount }),
    maybe(confirms({ ...said, ...pending, amount })),
    confirms({ ...said, ...yes, amount: often(null, '0.9999', '1,234', '-5') }),
  ]),
  'taken back, in the words of advertisers': fc.oneof(
    plot([clicks, confirms({ ...yes, txn: is('t1') }), saysNo, maybe(repeats())]),
    // Of an offer with two goals, the second; the no does not say which.
    plot([clicks, confirms({ ...yes, goal: is(1), txn: is('t1') }), maybe(worker(hours(24))), saysNo], {
      onlyOffer: is(2),
    }),
  ),
  'pending in time, approved later': plot([
    clicks,
    maybe(reports()),
    confirms(pending, hours(0.5, 0.9)),
    confirms(yes, hours(2, 50, 80)),
  ]),
  'called about one click, and then about another': plot([
    clicks,
    maybe(reports()),
    confirms(pending),
    mostly(either(then(reprice({ isShort: is(false), isWhole: is(true) })), then(share()))),
    clicks,
    confirms({ status: often<Status>('pending', 'approved'), amount: often<AmountText | null>('12.3456', null) }),
    confirms({ ...yes, click: often(0, 1), amount: often<AmountText | null>(null, '12.3456') }),
  ]),
  'the share of a publisher changes before the yes': plot([
    clicks,
    maybe(reports()),
    maybe(confirms(pending)),
    then(share()),
    maybe(clicks),
    confirms({ ...yes, click: often(0, 1), amount: often<AmountText | null>('12.3456', null) }),
    repeats(),
  ]),
  'a hold, and what comes before its end': plot(
    [
      clicks,
      confirms(yes),
      mostly(then(ban({ isBanned: is(true) }))),
      maybe(either(then(ban({ isBanned: is(false) })), repeats())),
      worker(hours(24, 25)),
      repeats(),
    ],
    { onlyOffer: is(2) },
  ),
  'banned and erased, or the other way round, before the end': plot(
    [
      clicks,
      maybe(reports()),
      maybe(confirms({ ...yes, txn })),
      mostly(then(ban({ isBanned: is(true) }))),
      maybe(confirms({ ...yes, txn })),
      then(erase()),
      maybe(either(then(ban({ isBanned: fc.boolean() })), clicks)),
      either(confirms({ ...yes, txn }), repeats(), worker(hours(24, 25))),
      maybe(then(ban({ isBanned: is(false) }))),
      either(confirms({ ...yes, txn, click: often(0, 1) }), repeats(), worker(hours(24, 25))),
    ],
    { onlyOffer: often(2, 0, 1), onlyPerson: often<number | null>(0, 1, 2) },
  ),
  'taken back, and done again': plot(
    [
      clicks,
      maybe(reports()),
      confirms({ ...yes, txn: is('t1'), amount: often(null, '12.3456') }),
      mostly(worker(hours(24))),
      takesBack,
      mostly(clicks),
      either(confirms({ ...yes, txn, amount: often(null, '12.3456') }), reports()),
    ],
    { onlyOffer: often(0, 1, 2) },
  ),
  'an old call comes again after the offer was done again': plot(
    [
      clicks,
      maybe(clicks),
      maybe(reports()),
      confirms({ click: often(0, 1), status: often<Status>('approved', 'rejected'), txn }),
      maybe(either(takesBack, saysNo)),
      mostly(clicks),
      then(report({ ...live, goal: often<number | null>(null, 0, 1), txn: often<string | null>('t2', null), key: is(null) })), // prettier-ignore
      then(again({ call: often(1, 2, 3), status: is(null) })),
    ],
    { trusts: often(false, true), tooFastS: often(0, 30), onlyPerson: often(2, 0) },
  ),
  'turned down for fraud, and confirmed again': plot(
    [
      clicks,
      either(confirms({ ...yes, txn }, is(1)), inTurn(reports(is(1)), confirms(yes)), inTurn(confirms(pending), then(move({ to: is('rejected') })))), // prettier-ignore
      maybe(clicks),
      either(confirms({ ...yes, txn }), reports(), then(move({ conversion: is(0) }))),
      maybe(confirms({ ...yes, txn })),
    ],
    { tooFastS: often(30, 0), onTooFast: often('reject', 'hold') },
  ),
  'a budget that is nearly spent': plot(
    [
      then(setCaps({ caps: budget, overCap: often('reject', 'reject', 'honour') })),
      inTurn(...[0, 1, 2].map((person) => then(click({ ...stored, person: is(person) })))),
      confirms({ ...yes, amount: is(null), ...firstGoal, txn: is('t1') }),
      confirms({ ...yes, click: is(1), amount: is(null), ...firstGoal, txn: is('t2') }),
      either(confirms({ ...yes, click: is(2), ...firstGoal, txn: is('t3') }), reports()),
      repeats(),
    ],
    { onlyPerson: is(null) },
  ),
  'an amount is raised under a cap': ofShare(
    (said) => [
      then(setCaps({ caps: budget, overCap: is('reject') })),
      clicks,
      maybe(reports()),
      confirms({ ...said, ...pending, amount: often('0.9999', '1.23456') }),
      maybe(clicks, confirms({ ...said, ...yes, txn: is('t2'), amount: often('0.9999', '1.23456') }, hours(0.1, 24))),
      confirms({ ...said, click: often(0, 1), amount: often('12.3456', '20') }, hours(0.1, 24)),
    ],
    { onlyPerson: often<number | null>(null, 0) },
  ),
  'a report that no advertiser confirms': plot([
    maybe(clicks),
    reports(),
    worker(hours(71, 73, 80)),
    either(repeats(), confirms(yes)),
    maybe(reports()),
  ]),
  'a goal turns repeatable, or no longer is': plot([
    clicks,
    either(confirms({ ...yes, txn: often('t1', null) }), reports()),
    then(edit({ change: is('repeatable'), goal: often(0, 1) })),
    maybe(clicks),
    either(confirms({ ...yes, txn: often('t2', 't1') }), reports()),
    repeats(),
  ]),
  'a publisher whose word is taken': plot(
    [
      clicks,
      then(report({ ...live, ...firstGoal, key: is(null) })),
      either(confirms({ ...yes, ...firstGoal, amount: often(null, '12.3456') }), confirms(firstGoal), then(move({}))),
      either(confirms(firstGoal), repeats(), worker(hours(80))),
    ],
    { trusts: is(true), onlyOffer: is(0), onlyPerson: is(2) },
  ),
}
