// An upstream network that is known: how its offers are asked for and read, and how it calls back.
import type { IgnoredCall } from '../../accounts/call-rules.ts'
import type { CallSignature } from '../../accounts/call-signature.ts'
import type { CredentialField, FeedRequest } from '../feed-request.ts'
import type { Mapping } from '../mapping/mapping.ts'

/** How the upstream confirms conversions to us. */
export type WayBack = {
  /** The parameters of our postback URL but for the token, with the upstream's macros: `click_id: '{sub1}'`. */
  parameters: Record<string, string>
  /** Its words for a status, where ours do not have them. */
  statuses?: Record<string, 'approved' | 'pending' | 'rejected' | 'reversed'>
  /** Calls that stand for nothing to be paid: logged, and answered as taken. */
  ignored?: IgnoredCall[]
  /** Goals that its offers do not list are their only one, where a call pays as much. */
  only_goal?: boolean
  /** What a negative amount means. */
  negative_amount?: 'reversal' | 'ignore'
  /** What the transaction ID of a reversal begins with. */
  reversal_prefix?: string
  /** How it signs; `label` is what it calls the secret. */
  signed?: { signature: CallSignature; label: string }
  /** What the operator does there. */
  notes: string[]
}

export type Preset = {
  key: string
  title: string
  website: string
  credentials: CredentialField[]
  request: FeedRequest
  mapping: Mapping
  /** For amounts without a currency. */
  currency: string
  /** How often it may be asked. */
  every: string
  back: WayBack
}

export const key = (label = 'API key', hint?: string): CredentialField => ({ name: 'key', label, ...(hint === undefined ? {} : { hint }), secret: true }) // prettier-ignore
export const plain = (name: string, label: string, hint?: string): CredentialField => ({ name, label, ...(hint === undefined ? {} : { hint }), secret: false }) // prettier-ignore

/** Words that most upstreams use. */
export const CATEGORY_WORDS = {
  games: 'game', game: 'game', gaming: 'game', 'casual games': 'game', casino: 'game', cpe: 'game', multistep: 'game',
  survey: 'survey', surveys: 'survey', poll: 'survey', polls: 'survey', 'market research': 'survey', quiz: 'survey', quizzes: 'survey',
  video: 'video', videos: 'video', 'watch video': 'video',
  app: 'app', apps: 'app', cpi: 'app', 'mobile app': 'app', 'mobile apps': 'app', install: 'app', 'app install': 'app',
} // prettier-ignore

/** Several of ours stand in one text. */
export const PLATFORM_WORDS = {
  android: 'android', 'google android': 'android', 'android phone': 'android', 'android tablet': 'android',
  ios: 'ios', iphone: 'ios', ipad: 'ios', ipod: 'ios', 'iphone/ipad': 'ios', iphone_ipad: 'ios',
  windows: 'web', mac: 'web', 'mac os': 'web', macos: 'web', 'mac os x': 'web', 'os x': 'web', linux: 'web', chromeos: 'web', 'chrome os': 'web',
  desktop: 'web', web: 'web', pc: 'web', computer: 'web',
  mobile: 'android ios', tablet: 'android ios', phone: 'android ios',
  all: 'web android ios', '*': 'web android ios', any: 'web android ios',
} // prettier-ignore
