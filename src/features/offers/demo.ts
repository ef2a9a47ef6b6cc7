// A demo catalogue of any size. Offer n is the same on every machine and on every day, so a demo, a test and a
// benchmark speak of the same offers. The first 200 are all different titles; later ones carry a number.
import { MICROS_PER_USD, microsToUsd } from '../../lib/money.ts'
import type { Category, Platform } from './choices.ts'

export type DemoGoal = { name: string; description: string; payout: number; revenue: number; is_optional: boolean }

/** A record as an import accepts it. */
// prettier-ignore
export type DemoOffer = {
  external_id: string; advertiser: string; name: string; description: string; category: Category
  payout: number; revenue: number; countries: string[]; platforms: Platform[]; destination_url: string; image_url: string
  difficulty: 'easy' | 'medium' | 'hard'; time_estimate: string; requirements: string; payment_required: boolean
  conversion_type: 'cpa' | 'cpi' | 'cpe' | 'cpl' | 'survey'; goals: DemoGoal[]
  status: 'active'; starts_at: null; ends_at: null
}

const STUDIOS = {
  survey: ['Quillmere Research', 'Askwell Panels', 'Kestrelworth Opinion'],
  app: ['Norvane Mobile', 'Tallowmere Labs', 'Juniper Hollow Apps'],
  game: ['Lanternfield Games', 'Mossgate Play', 'Fenwright & Daughters'],
  video: ['Halden Reach Media', 'Pebble & Finch', 'Corvane Digital'],
} as const

export const DEMO_ADVERTISERS: readonly string[] = Object.values(STUDIOS).flat()

// Which category stands where, over and over.
const ROTA = ['survey', 'game', 'app', 'video', 'survey', 'game', 'app', 'survey', 'game', 'app'] as const

const KANA = /[\u3040-\u30ff]/ // a title in it runs in Japan only

// Where offers run, and how well they pay there. Prime in number, so that every title meets every market.
const ALL_COUNTRIES: Market = [0.6, '']
const JAPAN: Market = [0.8, 'JP']
// prettier-ignore
const MARKETS: readonly Market[] = [
  [1, 'US'], [0.35, 'ID PH TH VN'], [0.9, 'GB IE'], ALL_COUNTRIES, [0.5, 'BR'], [0.95, 'DE AT CH'], [1, 'US CA'], [0.25, 'NG KE GH TZ'],
  [0.8, 'FR BE LU'], ALL_COUNTRIES, [0.9, 'AU NZ'], [0.45, 'MX'], JAPAN, [0.5, 'PL CZ SK'], [0.95, 'US CA GB AU NZ'], ALL_COUNTRIES,
  [0.65, 'ES PT'], [0.3, 'IN'], [0.9, 'SE NO DK FI IS'], [0.4, 'AR UY PY'], [0.9, 'GB'], ALL_COUNTRIES, [0.7, 'KR TW HK'], [0.35, 'ZA BW NA'],
  [0.65, 'IT MT'], [0.4, 'CL PE CO EC'], [0.85, 'NL BE'], ALL_COUNTRIES, [0.45, 'HU RO BG'], [0.6, 'AE SA QA KW'], [0.9, 'CA'], [0.65, 'SG MY'],
  [0.5, 'GR CY HR SI'], ALL_COUNTRIES, [0.4, 'CR PA DO GT'], [0.5, 'EE LV LT'], [1, 'US'], [0.25, 'BD PK LK NP'], [0.4, 'RS BA MK AL'],
  [0.3, 'EG MA TN'], [0.7, 'FR DE ES IT NL'], [0.35, 'TR KZ GE'], [0.45, 'BR MX CO AR'],
]

// Slug, what it is about, titles.
// prettier-ignore
const SURVEYS: readonly Topic[] = [
  ['coffee', 'what you drink and nibble between meals', 'Coffee at home|Your local café|Snacks between meals'],
  ['groceries', 'how you plan and do your food shopping', 'The weekly shop|Choosing a supermarket|Cooking on weekdays'],
  ['streaming', 'what you watch and how you choose it', 'What to watch tonight|How many streaming services?|Films or series?'],
  ['banking', 'how you look after your money', 'Everyday banking|Trust and your bank|Saving for later'],
  ['commuting', 'how you get around', 'The way to work|Buses, trains and bicycles|Electric driving'],
  ['sleep', 'your nights and how you wind down', 'How well do you sleep?|Evening routines|Beds and pillows'],
  ['pets', 'the animals at home and what you buy for them', 'Living with pets|What pets eat|A visit to the vet'],
  ['energy', 'how your home is heated, lit and powered', 'Heating and electricity|Solar power at home|Reading the energy bill'],
  ['travel', 'how you choose and book your trips', 'Planning a holiday|Short breaks and city trips|Packing light'],
  ['phones', 'the phone you have and how you use it', 'Your next phone|Time on your phone|Repair or replace?'],
  ['music', 'what you listen to, and where', 'Music through the day|Concerts and festivals|Audiobooks and podcasts'],
  ['clothes', 'how you choose and buy what you wear', 'Shopping for clothes|Second-hand fashion|Shoes that fit'],
  ['fitness', 'how you exercise, or would like to', 'Staying active|Gyms and home exercise|Running outdoors'],
  ['news', 'which news you follow and which you trust', 'Where you get your news|Local news and you|Headlines and alerts'],
  ['work', 'your working day and the tools you use', 'Working from home|Meetings and messages|Learning at work'],
  ['family', 'family life with young children', 'Raising young children|Toys and play|Weekends with the family'],
  ['skincare', 'the products you use and why', 'Daily skincare|Sun, skin and seasons|Hair care at home'],
  ['gardens', 'what you grow and where you buy it', 'Gardens and balconies|Growing vegetables|House plants'],
  ['delivery', 'what you order and how it reaches you', 'Parcels at the door|Takeaway evenings|Reviews and returns'],
  ['home', 'your home and what you would change in it', 'Furnishing a home|Moving house|Noise and neighbours'],
]

// prettier-ignore
const VIDEOS: readonly Topic[] = [
  ['trailers', 'films that come to the cinema soon', 'New film trailers|Trailers for the weekend'], ['recipes', 'simple cooking, step by step', 'Three quick suppers|Baking without an oven'],
  ['journeys', 'slow journeys and fine views', 'Night trains of Europe|A week on the coast path'], ['gadgets', 'everyday technology and how it works', 'Gadgets explained|Inside a repair workshop'],
  ['previews', 'games that are about to come out', 'Game trailers this month|First look: indie games'], ['sport', 'memorable moments in sport', 'Climbing highlights|Great comebacks'],
  ['nature', 'wild animals, filmed up close', 'Life in a rock pool|Birds of the wetland'], ['comedy', 'everyday life, played for laughs', 'Short comedy sketches|Stand-up in ninety seconds'],
  ['science', 'questions you may have wondered about', 'Science in a minute|Why the sea is salty'], ['cartoons', 'independent animation', 'Drawn by hand: animated shorts|A very small robot’s première'],
]

// Slug, genre, what one does in it, a milestone and its three steps, titles.
// prettier-ignore
const GAMES: readonly [slug: string, genre: string, pitch: string, milestone: string, steps: number[], titles: string][] = [
  ['match', 'match-three puzzle', 'Match tiles to bring a sleepy seaside village back to life.', 'Reach level #', [10, 25, 80], 'Tidewater Tiles|Crème & Crumb|Gemwick Lane|Lantern Blossoms|Petal Arcade|Orchard of Glass'],
  ['city', 'city builder', 'Lay out streets, gather materials and turn a hamlet into a city.', 'Grow your town to level #', [5, 12, 20], 'Harrowmere Heights|Saltmarsh City|Copperline|Ninebridge|Terrace & Tower|Grünwald Rising'],
  ['castle', 'strategy', 'Build a stronghold, train your troops and find allies.', 'Upgrade the keep to level #', [6, 14, 22], 'Embermarch|Halvardgate|Ironvale Accord|Siege of Merrow|Banner & Bone|The Ninth Rampart'],
  ['quest', 'role-playing adventure', 'Gather companions and follow a long story through a strange land.', 'Finish chapter #', [3, 8, 15], 'Ashen Pilgrim|つきあかり横丁 (Moonlight Alley)|Wyrmhollow|The Cartographer’s Oath|Runes of Tarrowin|Moonfall Covenant'],
  ['race', 'racing', 'Tune your car and take the corners a little faster each time.', 'Win # races', [5, 20, 50], 'Gravelhound Rally|Switchback County|Neon Causeway|Dustline 500|Coastal Throttle|Hairpin Weather'],
  ['word', 'word puzzle', 'Find the hidden words, a few quiet minutes at a time.', 'Solve # puzzles', [25, 100, 300], 'Letterloom|Crosswick|Vowel & Vine|Quillwords|Hidden Stanza|Wordharbour'],
  ['farm', 'farming', 'Sow, harvest and trade your way to a farm of your own.', 'Reach farm level #', [8, 18, 30], 'Clover Acre|Henhouse Hollow|Valley of Plums|Barley & Bee|Sunrow Homestead|Misty Paddock'],
  ['mystery', 'hidden object mystery', 'Search old rooms for clues and find out who did it.', 'Close # cases', [2, 5, 9], 'Château Mystère|The Wrenfield Letters|Gaslight Annexe|Murmurs at Mill Lane|The Locked Conservatory|Room Eleven and a Half'],
  ['cards', 'card game', 'Familiar card games with a new table every day.', 'Clear # tables', [20, 80, 200], 'Veranda Patience|Patience by the Sea|Kingsrow Cards|Acorn Rummy|Twelve Hearts Club|Deckwright'],
  ['space', 'browser strategy', 'Run a small trading fleet and settle worlds at the edge of the map.', 'Settle # planets', [3, 8, 15], 'Orbit Ledger|The Starless Expanse|Colony Meridian|Perihelion Treaty|The Quiet Nebula|Helium Freight'],
]

// Slug, kind, what it does, what one does first in it, whether it is one to sign up for, titles.
// prettier-ignore
const APPS: readonly [slug: string, kind: string, does: string, firstUse: string, isSignUp: boolean, titles: string][] = [
  ['budget', 'budget planner', 'sorts what you spend and shows what is left', 'Set up a first budget', true, 'Pennywell|Ledgerling|Tidy Purse|Coinharbour'],
  ['workout', 'home workouts', 'plans short workouts that need no equipment', 'Finish a first workout', false, 'Stridewell|Kettle & Mat|Løpeklar|Ten Steady Minutes'],
  ['vpn', 'private browsing', 'keeps your connection private on public Wi-Fi', 'Connect once', false, 'Burrow VPN|Quietgate VPN|Shadefern VPN|Mothwing VPN'],
  ['language', 'language lessons', 'teaches a language in ten minutes a day', 'Finish a first lesson', false, 'Parlaway|Phrasebird|Frühstückswörter|Verb by Verb'],
  ['recipes', 'recipe box', 'keeps your recipes and writes the shopping list', 'Save three recipes', false, 'Saucepan Diary|Larderly|Supper by Seven|Crumbnote'],
  ['savings', 'savings pots', 'puts small change aside without you noticing', 'Open a first pot', true, 'Nestpenny|Acornfold|Jarwise|Rainy Day Pot'],
  ['calm', 'guided meditation', 'guides you through a few calm minutes', 'Finish a first session', false, 'Stillpond|Low Tide Minutes|Slow Lantern|Quiet Acre'],
  ['photo', 'photo editor', 'gives your photos the look of old film', 'Edit a first photo', false, 'Grainmill|Tintwell|Paper Lens|Softwick'],
  ['tasks', 'notes and tasks', 'keeps notes, lists and reminders in one place', 'Make a first list', false, 'Inkpebble|Taskfern|Listwren|Dayfold'],
  ['cashback', 'cashback club', 'pays back part of what you spend in online shops', 'Add a first shop', true, 'Basketback|Thriftlark|Coupon Meadow|Parcelpenny'],
  ['weather', 'weather radar', 'shows rain on a map, minute by minute', 'Add your home town', false, 'Cloudledger|Rainward|Barometer Jo|Drizzlebook'],
  ['jobs', 'job search', 'finds work near you and keeps track of applications', 'Complete your profile', true, 'Hirewick|Shiftwren|Rolebook Lane|Worknook'],
  ['storage', 'file storage', 'keeps your files safe and the same on all devices', 'Upload a first file', true, 'Atticbox|Stowfold|Filecove|Keepwell Drive'],
  ['podcasts', 'podcast player', 'finds podcasts and remembers where you stopped', 'Follow three podcasts', false, 'Earwick|Longlisten|Chapterhouse Radio|Murmurfeed'],
  ['habits', 'habit tracker', 'helps you keep up small good habits', 'Add a first habit', false, 'Streakwood|Daily Pebble|Oaken Habit|Once More Tomorrow'],
]

// How long it takes, how hard it is, and what it pays from and to, in dollars.
// prettier-ignore
const SIZES = {
  survey: [['3-5 minutes', 'easy', 0.3, 0.9], ['5-10 minutes', 'easy', 0.5, 1.5], ['10-15 minutes', 'medium', 0.8, 2.3], ['20-30 minutes', 'hard', 1.5, 3.5]],
  video: [['1-2 minutes', 'easy', 0.02, 0.08], ['2-4 minutes', 'easy', 0.05, 0.18], ['5-8 minutes', 'easy', 0.12, 0.4]],
  game: [['30-60 minutes', 'easy', 1, 8], ['4-8 hours', 'medium', 6, 35], ['2-3 days', 'hard', 25, 120]],
  install: [['2-5 minutes', 'easy', 0.4, 2.5], ['5-10 minutes', 'easy', 0.7, 4]],
  signUp: [['5-10 minutes', 'easy', 1, 4], ['10-15 minutes', 'easy', 1.2, 5], ['10-15 minutes', 'medium', 3, 8]],
} as const

const PAID_SHARE = 0.2 // of games and of apps to sign up for, which comes to about 8% of all
const CENT_MICROS = 10_000
const QUARTER_CENT_MICROS = 2_500 // videos pay fractions of a cent
const ALL: readonly Platform[] = ['web', 'android', 'ios']
const WEB: readonly Platform[] = ['web']
const PHONES: readonly Platform[] = ['android', 'ios']
const ONE_OR_BOTH: readonly (readonly Platform[])[] = [['android'], ['android'], ['ios'], PHONES]

type Market = readonly [level: number, countries: string]
type Topic = readonly [slug: string, about: string, titles: string]
/** A goal before it has a price: `weight` is its share of the payout. */
type Step = { goal: Omit<DemoGoal, 'payout' | 'revenue'>; weight: number }
type Size = readonly [time: string, difficulty: DemoOffer['difficulty'], least: number, best: number]
type Text = Pick<DemoOffer, 'name' | 'description' | 'requirements' | 'conversion_type'>
type Draft = Text & { slug: string; size: Size; platforms: readonly Platform[]; steps: Step[]; isPaid?: boolean }
/** Writes offer n, the k-th of its category. */
type Writer = (n: number, k: number) => Draft
const WRITERS: Record<Category, Writer> = { survey: writeSurvey, app: writeApp, game: writeGame, video: writeVideo }

export function demoOffers(count: number): DemoOffer[] {
  return Array.from({ length: count }, (_, n) => demoOffer(n))
}

export function demoOffer(n: number): DemoOffer {
  const place = n % ROTA.length
  const category = at(ROTA, place)
  const inRota = (end: number) => ROTA.slice(0, end).filter((other) => other === category).length
  const k = Math.floor(n / ROTA.length) * inRota(ROTA.length) + inRota(place)
  const { slug, size, platforms, steps, isPaid = false, ...text } = WRITERS[category](n, k)
  const [time_estimate, difficulty, least, best] = size
  const [level, countries] = KANA.test(text.name) ? JAPAN : at(MARKETS, n)
  const totalMicros = (least + (best - least) * chance(n, 1) * level) * MICROS_PER_USD
  const payouts = share(totalMicros, steps, category === 'video' ? QUARTER_CENT_MICROS : CENT_MICROS)
  const margin = 1.2 + 0.4 * chance(n, 2)
  const revenues = payouts.map((micros) => Math.ceil((micros * margin) / QUARTER_CENT_MICROS) * QUARTER_CENT_MICROS)
  const goals = steps.map(({ goal }, i) => {
    return { ...goal, payout: microsToUsd(at(payouts, i)), revenue: microsToUsd(at(revenues, i)) }
  })
  return {
    external_id: `demo-${n}`,
    advertiser: at(STUDIOS[category], k),
    ...text,
    category,
    payout: microsToUsd(sum(payouts)),
    revenue: microsToUsd(sum(revenues)),
    countries: countries === '' ? [] : countries.split(' '),
    platforms: [...platforms],
    destination_url: `https://track.example.com/${category}/${n}?click={click_id}${chance(n, 3) < 0.3 ? '&sub={aff_sub}' : ''}`,
    image_url: `/pictures/${category}-${slug}.svg`,
    difficulty,
    time_estimate,
    goals,
    payment_required: isPaid,
    status: 'active',
    starts_at: null,
    ends_at: null,
  }
}

function writeSurvey(n: number, k: number): Draft {
  const { row, slug, title } = turn(SURVEYS, k)
  const steps = [newStep('Complete the survey', 'Answer all the questions.', 3)]
  if (chance(n, 5) < 0.2)
    steps.push(newStep('Answer the follow-up', 'Answer five more questions a week later.', 1, true))
  const opening = at(['Tell us about', 'A few questions about', 'This survey is about'], k)
  const closing = choose(['Your answers stay anonymous.', 'There are no right or wrong answers.'], n, 6)
  const rule = choose(['Each person can take part once.', 'Hasty answers are not accepted.'], n, 7)
  const description = `${opening} ${row[1]}. ${closing}`
  const requirements = `You are 18 or older. ${rule}`
  const size = choose(SIZES.survey, n, 4)
  return { slug, name: title, description, requirements, size, platforms: ALL, steps, conversion_type: 'survey' }
}

function writeVideo(n: number, k: number): Draft {
  const { row, slug, title } = turn(VIDEOS, k)
  const size = choose(SIZES.video, n, 4)
  const end = newStep('Watch to the end', 'Keep the video in view until it is over.', 2)
  const isLong = size === SIZES.video.at(-1)
  const steps = isLong ? [newStep('Watch the first half', 'Watch without skipping.', 1), end] : [end]
  const description = `${isLong ? 'A series of clips' : 'A short video'} about ${row[1]}.`
  const requirements = 'Leave the sound on and the video in view. It counts once per person.'
  const platforms = choose([ALL, ALL, WEB, PHONES], n, 5)
  return { slug, name: title, description, requirements, size, platforms, steps, conversion_type: 'cpa' }
}

function writeApp(n: number, k: number): Draft {
  const { row, slug, title } = turn(APPS, k)
  const [, kind, does, firstUse, isSignUp] = row
  const isPaid = isSignUp && chance(n, 4) < PAID_SHARE
  const isTried = !isPaid && chance(n, 6) < 0.5
  const platforms = isSignUp ? choose([ALL, ALL, WEB], n, 5) : choose(ONE_OR_BOTH, n, 5)
  const signUp = newStep('Create an account', 'Sign up and confirm your email address.', 2)
  const steps = [isSignUp ? signUp : newStep('Install and open', 'Install the app and open it once.', 2)]
  if (isTried) steps.push(newStep(firstUse, 'Do this within 7 days.', 3, chance(n, 7) < 0.5))
  if (isPaid) steps.push(newStep('Start the monthly plan', 'Pay for the first month.', 5))
  const size = isSignUp ? SIZES.signUp[isPaid ? 2 : isTried ? 1 : 0] : SIZES.install[isTried ? 1 : 0]
  const name = `${title}: ${kind}`
  const description = `${title} ${does}. ${isSignUp ? 'Join and have a look around.' : 'Install it and give it a try.'}`
  const requirements = `New users only. ${isPaid ? 'The first month costs $4.99.' : needOf(platforms)}`
  return {
    slug,
    name,
    description,
    requirements,
    size,
    platforms,
    steps,
    conversion_type: isSignUp ? 'cpl' : 'cpi',
    isPaid,
  }
}

function writeGame(n: number, k: number): Draft {
  const { row, slug, title } = turn(GAMES, k)
  const [topic, genre, pitch, milestone, levels] = row
  const isInBrowser = topic === 'space'
  const size = choose(SIZES.game, n, 4)
  const effort = SIZES.game.indexOf(size) + 1
  const isPaid = chance(n, 5) < PAID_SHARE
  const platforms = isInBrowser ? WEB : choose(ONE_OR_BOTH, n, 6)
  const steps = [newStep(isInBrowser ? 'Create an account' : 'Install and open', 'Play the introduction.', 1)]
  if (isPaid) steps.push(newStep('Buy the starter pack', 'Buy it at the usual price of $4.99.', 6))
  const reached = levels.slice(0, isPaid ? Math.min(effort, 2) : effort)
  for (const [i, level] of reached.entries()) {
    const isOptional = i > 0 && i === reached.length - 1 && chance(n, 7) < 0.6
    const name = milestone.replace('#', String(level))
    steps.push(newStep(name, `Within ${effort * 10} days of your first game.`, 3 * 2 ** i, isOptional))
  }
  const name = `${title}: ${genre}`
  const description = `${pitch} ${choose(['You are rewarded at every goal.', 'Play at your own pace.'], n, 9)}`
  const requirements = `New players only. ${isPaid ? 'The starter pack costs $4.99.' : needOf(platforms)}`
  return { slug, name, description, requirements, size, platforms, steps, conversion_type: 'cpe', isPaid }
}

function needOf(platforms: readonly Platform[]): string {
  if (platforms.includes('web')) return 'You need a current browser.'
  if (platforms === PHONES) return 'You need an Android or iOS device.'
  return platforms.includes('ios') ? 'You need an iOS device.' : 'You need an Android device.'
}

/** Goes through all rows with their first title, then with their second; after the last, titles carry a number. */
function turn<Row extends readonly [string, ...unknown[], string]>(rows: readonly Row[], k: number) {
  const row = at(rows, k)
  const titles = String(row.at(-1)).split('|')
  const lap = Math.floor(k / rows.length)
  const round = Math.floor(lap / titles.length)
  const title = at(titles, lap)
  return { row, slug: `${row[0]}-${(lap % titles.length) + 1}`, title: round === 0 ? title : `${title} ${round + 1}` }
}

/** Divides a sum by weight into whole grains; the first part takes what rounding leaves. */
function share(totalMicros: number, parts: readonly Step[], grainMicros: number): number[] {
  const grains = Math.round(totalMicros / grainMicros)
  const weights = sum(parts.map(({ weight }) => weight))
  const shares = parts.slice(1).map(({ weight }) => Math.floor((grains * weight) / weights))
  return [grains - sum(shares), ...shares].map((count) => count * grainMicros)
}

const newStep = (name: string, description: string, weight: number, is_optional = false): Step => {
  return { goal: { name, description, is_optional }, weight }
}
const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)
const at = <T>(list: readonly T[], i: number): T => list[i % list.length]!
const choose = <T>(list: readonly T[], n: number, salt: number): T =>
  at(list, Math.floor(chance(n, salt) * list.length))

/** A number in [0, 1) that looks drawn by lot and is the same for the same n and salt. */
function chance(n: number, salt: number): number {
  let mixed = Math.imul(n + 1, 0x9e3779b1) ^ Math.imul(salt, 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x7feb352d)
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x846ca68b)
  return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32
}
