// A demo catalogue of any size. Offer n is the same on every machine and on every day, so a demo, a test and a
// benchmark speak of the same offers. The first 200 are all different titles; later ones carry a number.
import { MICROS_PER_USD, microsToUsd } from '../../lib/money.ts'
import type { Category, Platform } from './schema.ts'

export type DemoGoal = { name: string; description: string; payout: number; revenue: number; is_optional: boolean }

export type DemoOffer = {
  external_id: string
  advertiser: string
  name: string
  description: string
  category: Category
  payout: number
  revenue: number
  countries: string[]
  platforms: Platform[]
  destination_url: string
  image_url: string
  difficulty: 'easy' | 'medium' | 'hard'
  time_estimate: string
  requirements: string
  payment_required: boolean
  conversion_type: 'cpa' | 'cpi' | 'cpe' | 'cpl' | 'survey'
  goals: DemoGoal[]
  status: 'active'
  starts_at: null
  ends_at: null
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

// Where offers run, and how well they pay there. Prime in number, so that every title meets every market.
const JAPAN: Market = [0.8, 'JP']
// prettier-ignore
const MARKETS: readonly Market[] = [
  [1, 'US'], [1, 'US CA'], [0.95, 'US CA GB AU NZ'], [0.9, 'GB IE'], [0.9, 'AU NZ'], [1, 'US'], [0.9, 'GB'], [0.9, 'CA'],
  [0.95, 'DE AT CH'], [0.8, 'FR BE LU'], [0.85, 'NL BE'], [0.9, 'SE NO DK FI IS'], [0.65, 'ES PT'], [0.65, 'IT MT'],
  [0.5, 'PL CZ SK'], [0.45, 'HU RO BG'], [0.5, 'GR CY HR SI'], [0.5, 'EE LV LT'], [0.4, 'RS BA MK AL'], [0.7, 'FR DE ES IT NL'],
  [0.5, 'BR'], [0.45, 'MX'], [0.4, 'AR UY PY'], [0.4, 'CL PE CO EC'], [0.4, 'CR PA DO GT'], [0.45, 'BR MX CO AR'],
  JAPAN, [0.7, 'KR TW HK'], [0.65, 'SG MY'], [0.3, 'IN'], [0.35, 'ID PH TH VN'], [0.25, 'BD PK LK NP'], [0.35, 'TR KZ GE'],
  [0.6, 'AE SA QA KW'], [0.35, 'ZA BW NA'], [0.25, 'NG KE GH TZ'], [0.3, 'EG MA TN'],
]

// Slug, two titles, and what it is about.
const SURVEYS: readonly Topic[] = [
  ['coffee', 'Coffee at home', 'Your local café', 'where, when and how you like your coffee'],
  ['groceries', 'The weekly shop', 'Choosing a supermarket', 'how you plan and do your food shopping'],
  ['streaming', 'What to watch tonight', 'How many streaming services?', 'what you stream and how you choose it'],
  ['banking', 'Everyday banking', 'Trust and your bank', 'how you look after your money from day to day'],
  ['commuting', 'The way to work', 'Buses, trains and bicycles', 'how you get around on a normal weekday'],
  ['sleep', 'How well do you sleep?', 'Evening routines', 'your nights and how you wind down'],
  ['pets', 'Living with pets', 'What pets eat', 'the animals at home and what you buy for them'],
  ['energy', 'Heating and electricity', 'Solar power at home', 'how your home is heated, lit and powered'],
  ['travel', 'Planning a holiday', 'Short breaks and city trips', 'how you choose, book and enjoy your trips'],
  ['phones', 'Your next phone', 'Time on your phone', 'the phone you have and the one you would like'],
  ['music', 'Music through the day', 'Concerts and festivals', 'what you listen to, and where'],
  ['clothes', 'Shopping for clothes', 'Second-hand fashion', 'how you choose what to wear'],
  ['fitness', 'Staying active', 'Gyms and home exercise', 'how you exercise, or would like to'],
  ['news', 'Where you get your news', 'Local news and you', 'which news you follow and which you trust'],
  ['cooking', 'Cooking on weekdays', 'Gadgets in the kitchen', 'what you cook and what helps you do it'],
  ['snacks', 'Snacks between meals', 'Tasting notes: chocolate', 'what you reach for when you are peckish'],
  ['work', 'Working from home', 'Meetings and messages', 'your working day and the tools you use'],
  ['children', 'Raising young children', 'Toys and play', 'family life with children under twelve'],
  ['cars', 'Buying a car', 'Electric driving', 'what you drive and what you may drive next'],
  ['insurance', 'Insurance in plain words', 'Changing your insurer', 'the cover you have and how you chose it'],
  ['skincare', 'Daily skincare', 'Sun, skin and seasons', 'the products you use and why'],
  ['gardens', 'Gardens and balconies', 'Growing vegetables', 'what you grow and where you buy it'],
  ['games', 'Games you play', 'Playing together online', 'when, with whom and on what you play'],
  ['books', 'Reading habits', 'Audiobooks and podcasts', 'what you read and listen to'],
  ['charity', 'Giving and volunteering', 'Causes you care about', 'the causes you support, with money or time'],
  ['delivery', 'Parcels at the door', 'Takeaway evenings', 'what you have delivered and how it goes'],
  ['home', 'Furnishing a home', 'Moving house', 'your home and what you would change in it'],
  ['health', 'Visiting the doctor', 'Health apps and you', 'how you look after your health'],
  ['learning', 'Learning something new', 'Studying online', 'what you learn and how you go about it'],
  ['shopping', 'Shopping habits', 'Reviews and returns', 'how you compare, buy and send back'],
]

const VIDEOS: readonly Topic[] = [
  ['trailers', 'New film trailers', 'Trailers for the weekend', 'films that come to the cinema soon'],
  ['recipes', 'Three quick suppers', 'Baking without an oven', 'simple cooking'],
  ['journeys', 'Night trains of Europe', 'A week on the coast path', 'slow travel'],
  ['gadgets', 'Gadgets explained', 'Inside a repair workshop', 'everyday technology'],
  ['previews', 'Game trailers this month', 'First look: indie games', 'games that are about to come out'],
  ['sport', 'Climbing highlights', 'Great comebacks', 'memorable moments in sport'],
  ['nature', 'Life in a rock pool', 'Birds of the wetland', 'wildlife, filmed up close'],
  ['comedy', 'Short comedy sketches', 'Stand-up in ninety seconds', 'new comedy'],
  ['science', 'Science in a minute', 'Why the sea is salty', 'questions you may have wondered about'],
  ['cartoons', 'Drawn by hand: animated shorts', 'Tales of a très petit robot', 'independent animation'],
]

// Slug, genre, what one does in it, a milestone and its three steps, six titles.
// prettier-ignore
const GAMES: readonly [string, string, string, string, readonly number[], string][] = [
  ['match', 'match-three puzzle', 'Match tiles to bring a sleepy seaside village back to life.', 'Reach level #', [10, 25, 80],
    'Tidewater Tiles|Crème & Crumb|Gemwick Lane|Lantern Blossoms|Petal Arcade|Orchard of Glass'],
  ['city', 'city builder', 'Lay out streets, gather materials and turn a hamlet into a city.', 'Grow your town to level #', [5, 12, 20],
    'Harrowmere Heights|Saltmarsh City|Copperline|Ninebridge|Terrace & Tower|Grünwald Rising'],
  ['castle', 'strategy', 'Build a stronghold, train your troops and find allies.', 'Upgrade the keep to level #', [6, 14, 22],
    'Embermarch|Halvardgate|Ironvale Accord|Siege of Merrow|Banner & Bone|The Ninth Rampart'],
  ['quest', 'role-playing adventure', 'Gather companions and follow a long story through a strange land.', 'Finish chapter #', [3, 8, 15],
    'Ashen Pilgrim|つきあかり横丁 (Moonlight Alley)|Wyrmhollow|The Cartographer’s Oath|Runes of Tarrowin|Moonfall Covenant'],
  ['race', 'racing', 'Tune your car and take the corners a little faster each time.', 'Win # races', [5, 20, 50],
    'Gravelhound Rally|Switchback County|Neon Causeway|Dustline 500|Coastal Throttle|Hairpin Weather'],
  ['word', 'word puzzle', 'Find the hidden words, a few quiet minutes at a time.', 'Solve # puzzles', [25, 100, 300],
    'Letterloom|Crosswick|Vowel & Vine|Quillwords|Hidden Stanza|Wordharbour'],
  ['farm', 'farming', 'Sow, harvest and trade your way to a farm of your own.', 'Reach farm level #', [8, 18, 30],
    'Clover Acre|Henhouse Hollow|Valley of Plums|Barley & Bee|Sunrow Homestead|Misty Paddock'],
  ['mystery', 'hidden object mystery', 'Search old rooms for clues and find out who did it.', 'Close # cases', [2, 5, 9],
    'Château Mystère|The Wrenfield Letters|Gaslight Annexe|Murmurs at Mill Lane|The Locked Conservatory|Room Eleven and a Half'],
  ['cards', 'card game', 'Familiar card games with a new table every day.', 'Clear # tables', [20, 80, 200],
    'Veranda Patience|Patience by the Sea|Kingsrow Cards|Acorn Rummy|Twelve Hearts Club|Deckwright'],
  ['space', 'browser strategy', 'Run a small trading fleet and settle worlds at the edge of the map.', 'Settle # planets', [3, 8, 15],
    'Orbit Ledger|The Starless Expanse|Colony Meridian|Perihelion Treaty|The Quiet Nebula|Helium Freight'],
]

// Slug, kind, what it does, what one does first in it, whether it is one to sign up for, four names.
// prettier-ignore
const APPS: readonly [string, string, string, string, boolean, string][] = [
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

// How long, how hard, and what it pays from and to, in dollars.
const SURVEY_SIZES: readonly Size[] = [
  ['3-5 minutes', 'easy', [0.3, 0.9]],
  ['5-10 minutes', 'easy', [0.5, 1.5]],
  ['10-15 minutes', 'medium', [0.8, 2.3]],
  ['20-30 minutes', 'hard', [1.5, 3.5]],
]
const VIDEO_SIZES: readonly Size[] = [
  ['1-2 minutes', 'easy', [0.02, 0.08]],
  ['2-4 minutes', 'easy', [0.05, 0.18]],
  ['5-8 minutes', 'easy', [0.12, 0.4]],
]
const GAME_SIZES: readonly Size[] = [
  ['30-60 minutes', 'easy', [1, 8]],
  ['4-8 hours', 'medium', [6, 35]],
  ['2-3 days', 'hard', [25, 120]],
]

const EVERYWHERE: Market = [0.6, '']
const EVERYWHERE_SHARE = 0.15
const PAID_SHARE = 0.2 // of games and of apps to sign up for, which comes to about 8% of all
const CENT_MICROS = 10_000
const VIDEO_GRAIN_MICROS = 2_500 // videos pay fractions of a cent
const ALL: readonly Platform[] = ['web', 'android', 'ios']
const PHONES: readonly (readonly Platform[])[] = [['android'], ['android'], ['ios'], ['android', 'ios']]

type Market = readonly [level: number, countries: string]
type Topic = readonly [slug: string, first: string, second: string, about: string]
type Size = readonly [time: string, difficulty: DemoOffer['difficulty'], range: readonly [number, number]]
/** A goal before it has a price: `weight` is its share of the payout. */
type Step = { name: string; description: string; weight: number; is_optional?: boolean }
type Draft = Pick<DemoOffer, 'name' | 'description' | 'requirements' | 'conversion_type'> & {
  slug: string
  size: Size
  platforms: readonly Platform[]
  steps: Step[]
  isPaid?: boolean
}

/** Each writes offer n, the k-th of its category. */
const WRITERS: Record<Category, (n: number, k: number) => Draft> = {
  survey: writeSurvey,
  app: writeApp,
  game: writeGame,
  video: writeVideo,
}

export function demoOffers(count: number): DemoOffer[] {
  return Array.from({ length: count }, (_, n) => demoOffer(n))
}

export function demoOffer(n: number): DemoOffer {
  const place = n % ROTA.length
  const category = at(ROTA, place)
  const inRota = (end: number) => ROTA.slice(0, end).filter((other) => other === category).length
  const k = Math.floor(n / ROTA.length) * inRota(ROTA.length) + inRota(place)
  const { slug, size, platforms, steps, isPaid = false, ...text } = WRITERS[category](n, k)
  const [level, countries] = marketOf(n, text.name)
  const [time_estimate, difficulty, [least, best]] = size
  const totalMicros = (least + (best - least) * chance(n, 1) * level) * MICROS_PER_USD
  const prices = share(totalMicros, steps, category === 'video' ? VIDEO_GRAIN_MICROS : CENT_MICROS)
  const margin = 1.2 + 0.4 * chance(n, 2)
  const revenues = prices.map((micros) => Math.ceil((micros * margin) / VIDEO_GRAIN_MICROS) * VIDEO_GRAIN_MICROS)
  return {
    external_id: `demo-${n}`,
    advertiser: at(STUDIOS[category], k),
    ...text,
    category,
    payout: microsToUsd(sum(prices)),
    revenue: microsToUsd(sum(revenues)),
    countries: countries === '' ? [] : countries.split(' '),
    platforms: [...platforms],
    destination_url: `https://track.example.com/${category}/${n}?click={click_id}${chance(n, 3) < 0.3 ? '&sub={aff_sub}' : ''}`,
    image_url: `/pictures/${category}-${slug}.svg`,
    difficulty,
    time_estimate,
    payment_required: isPaid,
    goals: steps.map(({ name, description, is_optional = false }, i) => {
      return {
        name,
        description,
        payout: microsToUsd(prices[i] ?? 0),
        revenue: microsToUsd(revenues[i] ?? 0),
        is_optional,
      }
    }),
    status: 'active',
    starts_at: null,
    ends_at: null,
  }
}

function writeSurvey(n: number, k: number): Draft {
  const { row, variant, round } = turn(SURVEYS, k, 2)
  const [slug, first, second, about] = row
  const steps: Step[] = [{ name: 'Complete the survey', description: 'Answer all the questions.', weight: 3 }]
  const followUp = {
    name: 'Answer the follow-up',
    description: 'Answer five more questions a week later.',
    weight: 1,
    is_optional: true,
  }
  const opening = at(['Tell us about', 'A few questions about', 'Share your view on'], k)
  const closing = at(['Your answers stay anonymous.', 'There are no right or wrong answers.'], k)
  return {
    slug: `${slug}-${variant + 1}`,
    size: choose(SURVEY_SIZES, n, 4),
    name: numbered(variant === 0 ? first : second, round),
    description: `${opening} ${about}. ${closing}`,
    requirements: `You are 18 or older. ${at(['Each person can take part once.', 'Hasty answers are not accepted.'], n)}`,
    platforms: ALL,
    conversion_type: 'survey',
    steps: chance(n, 5) < 0.2 ? [...steps, followUp] : steps,
  }
}

function writeVideo(n: number, k: number): Draft {
  const { row, variant, round } = turn(VIDEOS, k, 2)
  const [slug, first, second, about] = row
  const size = choose(VIDEO_SIZES, n, 4)
  const half = { name: 'Watch the first half', description: 'Watch without skipping.', weight: 1 }
  const end = { name: 'Watch to the end', description: 'Keep the video in view until it is over.', weight: 2 }
  return {
    slug: `${slug}-${variant + 1}`,
    size,
    name: numbered(variant === 0 ? first : second, round),
    description: `Watch a short series of clips: ${about}.`,
    requirements: 'Leave the sound on and the video in view. It counts once per person.',
    platforms: choose([ALL, ALL, ['web'], ['android', 'ios']], n, 5),
    conversion_type: 'cpa',
    steps: size === VIDEO_SIZES.at(-1) ? [half, end] : [end],
  }
}

function writeApp(n: number, k: number): Draft {
  const { row, variant, round } = turn(APPS, k, 4)
  const [slug, kind, does, firstUse, isSignUp, names] = row
  const title = numbered(at(names.split('|'), variant), round)
  const isPaid = isSignUp && chance(n, 4) < PAID_SHARE
  const platforms: readonly Platform[] = isSignUp ? choose([ALL, ALL, ['web']], n, 5) : choose(PHONES, n, 5)
  const open = isSignUp
    ? { name: 'Create an account', description: 'Sign up and confirm your email address.', weight: 2 }
    : { name: 'Install and open', description: 'Install the app and open it once.', weight: 2 }
  const use = { name: firstUse, description: 'Do this within 7 days.', weight: 3, is_optional: chance(n, 6) < 0.5 }
  const pay = { name: 'Start the monthly plan', description: 'Pay for the first month.', weight: 5 }
  const isTried = chance(n, 7) < 0.5
  return {
    slug: `${slug}-${variant + 1}`,
    size: isPaid
      ? ['10-15 minutes', 'medium', [3, 8]]
      : isSignUp
        ? ['5-10 minutes', 'easy', [1, 5]]
        : isTried
          ? ['5-10 minutes', 'easy', [0.7, 4]]
          : ['2-5 minutes', 'easy', [0.4, 2.5]],
    name: `${title}: ${kind}`,
    description: `${title} ${does}. ${isSignUp ? 'Join and have a look around.' : 'Install it and give it a try.'}`,
    requirements: isPaid
      ? 'New members only. The first month costs $4.99.'
      : `New users only. You need ${deviceOf(platforms)}.`,
    platforms,
    conversion_type: isSignUp ? 'cpl' : 'cpi',
    steps: isPaid ? [open, pay] : isTried ? [open, use] : [open],
    isPaid,
  }
}

function writeGame(n: number, k: number): Draft {
  const { row, variant, round } = turn(GAMES, k, 6)
  const [slug, genre, pitch, milestone, levels, titles] = row
  const size = choose(GAME_SIZES, n, 4)
  const effort = GAME_SIZES.indexOf(size) + 1
  const isPaid = chance(n, 5) < PAID_SHARE
  const platforms: readonly Platform[] = slug === 'space' ? ['web'] : choose(PHONES, n, 6)
  const isLastOptional = effort > 1 && chance(n, 7) < 0.6
  const open =
    slug === 'space'
      ? { name: 'Create an account', description: 'Sign up and play the introduction.', weight: 1 }
      : { name: 'Install and open', description: 'Install the game and play the introduction.', weight: 1 }
  const pay = { name: 'Buy the starter pack', description: 'Buy any pack of $1.99 or more.', weight: 6 }
  const reached = levels.slice(0, isPaid ? Math.min(effort, 2) : effort).map((level, i, { length }) => ({
    name: milestone.replace('#', String(level)),
    description: `Within ${effort * 10} days of your first game.`,
    weight: 3 * 2 ** i,
    is_optional: isLastOptional && i === length - 1,
  }))
  return {
    slug: `${slug}-${variant + 1}`,
    size,
    name: `${numbered(at(titles.split('|'), variant), round)}: ${genre}`,
    description: `${pitch} ${at(['You are rewarded at every goal.', 'Play at your own pace.'], k)}`,
    requirements: `New players only. ${isPaid ? 'A purchase in the game is needed.' : `You need ${deviceOf(platforms)}.`}`,
    platforms,
    conversion_type: 'cpe',
    steps: isPaid ? [open, pay, ...reached] : [open, ...reached],
    isPaid,
  }
}

/** Goes through all rows with their first title, then with their second, and after the last starts another round. */
function turn<Row>(rows: readonly Row[], k: number, variants: number) {
  const lap = Math.floor(k / rows.length)
  return { row: at(rows, k), variant: lap % variants, round: Math.floor(lap / variants) }
}

function numbered(title: string, round: number): string {
  return round === 0 ? title : `${title} ${round + 1}`
}

function marketOf(n: number, name: string): Market {
  if (/[\u3040-\u30ff]/.test(name)) return JAPAN // a title in kana
  return chance(n, 8) < EVERYWHERE_SHARE ? EVERYWHERE : at(MARKETS, n * 11)
}

function deviceOf(platforms: readonly Platform[]): string {
  if (platforms.includes('web')) return 'a current browser'
  if (platforms.length > 1) return 'an Android or iOS device'
  return platforms[0] === 'ios' ? 'an iOS device' : 'an Android device'
}

/** Divides a sum by weight into whole grains; the first part takes what rounding leaves. */
function share(totalMicros: number, parts: readonly { weight: number }[], grainMicros: number): number[] {
  const grains = Math.round(totalMicros / grainMicros)
  const weights = sum(parts.map(({ weight }) => weight))
  const shares = parts.slice(1).map(({ weight }) => Math.floor((grains * weight) / weights))
  return [grains - sum(shares), ...shares].map((count) => count * grainMicros)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

function at<T>(list: readonly T[], i: number): T {
  return list[i % list.length] as T
}

function choose<T>(list: readonly T[], n: number, salt: number): T {
  return at(list, Math.floor(chance(n, salt) * list.length))
}

/** A number in [0, 1) that looks drawn by lot and is the same for the same n and salt. */
function chance(n: number, salt: number): number {
  let mixed = Math.imul(n + 1, 0x9e3779b1) ^ Math.imul(salt, 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x7feb352d)
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x846ca68b)
  return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32
}
