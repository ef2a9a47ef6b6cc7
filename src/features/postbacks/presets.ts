// Known receivers: reward sites by the thousand have one of these, copied from the documentation of a network. Choosing
// a preset fills the settings; what was filled can be changed, and no preset is stored.
import { type Dialect, PLAIN } from './dialect.ts'
import type { PostbackSettings } from './settings.ts'

export type Preset = Pick<PostbackSettings, 'method' | 'events' | 'success' | 'negativeReversals'> & {
  preset: string
  title: string
  about: string
  /** What follows the ? of the URL. */
  query: string
  dialect: Dialect
}

const EVENTS: PostbackSettings['events'] = ['approved', 'reversed']
const CREDITS_ONLY: Dialect['statuses'] = { approved: '1', reversed: '2' }

export const PRESETS: readonly Preset[] = [
  {
    preset: 'wannads',
    title: 'Wannads style',
    about:
      'MD5 of subId, transId, reward and secret. Status 1 credits, 2 reverses; amounts are always positive. Answers OK, or DUP for a repeat. Many networks copied it; some send a POST form.',
    method: 'GET',
    query:
      'subId={user_id}&transId={transaction_id}&offer_id={offer_id}&offer_name={offer_name}&reward={reward}&reward_name={currency}&payout={payout}&status={status}&userIp={ip}&country={country}&debug={is_test}&signature={signature}',
    events: EVENTS,
    success: 'body',
    negativeReversals: false,
    dialect: {
      ...PLAIN,
      statuses: CREDITS_ONLY,
      answers: ['OK', 'DUP'],
      signature: {
        algorithm: 'md5',
        of: '{user_id}{transaction_id}{reward}{secret}',
        encoding: 'hex',
        header: null,
      },
    },
  },
  {
    preset: 'superrewards',
    title: 'SuperRewards style',
    about:
      'MD5 of id:new:uid:secret. IDs are numbers, amounts are whole; a negative amount reverses. Answers 1. A receiver that also asks for total, the sum of all rewards of the user, needs a change.',
    method: 'GET',
    query: 'id={transaction_id}&uid={user_id}&oid={offer_id}&new={reward}&sig={signature}',
    events: EVENTS,
    success: 'body',
    negativeReversals: true,
    dialect: {
      ...PLAIN,
      statuses: CREDITS_ONLY,
      reward_decimals: 0,
      ids: 'number',
      answers: ['1'],
      signature: {
        algorithm: 'md5',
        of: '{transaction_id}:{reward}:{user_id}:{secret}',
        encoding: 'hex',
        header: null,
      },
    },
  },
  {
    preset: 'fyber',
    title: 'Fyber style',
    about: 'SHA-1 of secret, uid, amount and _trans_id_. A negative amount reverses. Any 2xx counts as received.',
    method: 'GET',
    query: 'uid={user_id}&amount={reward}&currency_name={currency}&_trans_id_={transaction_id}&sid={signature}',
    events: EVENTS,
    success: '2xx',
    negativeReversals: true,
    dialect: {
      ...PLAIN,
      statuses: CREDITS_ONLY,
      signature: {
        algorithm: 'sha1',
        of: '{secret}{user_id}{reward}{transaction_id}',
        encoding: 'hex',
        header: null,
      },
    },
  },
  {
    preset: 'offertoro',
    title: 'OfferToro style',
    about: 'MD5 of oid-user_id-secret. A negative amount reverses. Answers 1.',
    method: 'GET',
    query:
      'id={transaction_id}&oid={offer_id}&o_name={offer_name}&amount={reward}&currency_name={currency}&user_id={user_id}&payout={payout}&ip_address={ip}&sig={signature}',
    events: EVENTS,
    success: 'body',
    negativeReversals: true,
    dialect: {
      ...PLAIN,
      statuses: CREDITS_ONLY,
      answers: ['1'],
      signature: { algorithm: 'md5', of: '{offer_id}-{user_id}-{secret}', encoding: 'hex', header: null },
    },
  },
  {
    preset: 'sorted-query',
    title: 'HMAC of the sorted query',
    about:
      'HMAC-SHA256 of all parameters, sorted by name and built like http_build_query. Status credited or rejected; amounts are always positive. Any 2xx counts as received.',
    method: 'GET',
    query:
      'user_id={user_id}&transaction_id={transaction_id}&offer_id={offer_id}&offer_name={offer_name}&amount={reward}&payout={payout}&status={status}&ip={ip}&country={country}&timestamp={timestamp}&is_test={is_test}&signature={signature}',
    events: EVENTS,
    success: '2xx',
    negativeReversals: false,
    dialect: {
      ...PLAIN,
      statuses: { approved: 'credited', reversed: 'rejected' },
      signature: { algorithm: 'hmac-sha256', of: '{sorted_query}', encoding: 'hex', header: null },
    },
  },
  {
    preset: 'lootably',
    title: 'Lootably style',
    about:
      'SHA-256 of userID, ip, revenue, currencyReward and secret. Status 1 credits, 0 reverses, with negative amounts. Answers 1.',
    method: 'GET',
    query:
      'userID={user_id}&transactionID={transaction_id}&ip={ip}&offerID={offer_id}&offerName={offer_name}&goalID={goal_id}&revenue={payout}&currencyReward={reward}&status={status}&hash={signature}',
    events: EVENTS,
    success: 'body',
    negativeReversals: true,
    dialect: {
      ...PLAIN,
      statuses: { approved: '1', reversed: '0' },
      answers: ['1'],
      signature: {
        algorithm: 'sha256',
        of: '{user_id}{ip}{payout}{reward}{secret}',
        encoding: 'hex',
        header: null,
      },
    },
  },
]

export const presetOf = (name: string): Preset | undefined => PRESETS.find(({ preset }) => preset === name)

/** The URL with the parameters of a preset, in place of those with macros. */
export function applyQuery(url: string, query: string): string {
  const [, base = '', own = ''] = /^([^?#]*)\??([^#]*)/s.exec(url.trim()) ?? []
  const kept = own.split('&').filter((pair) => pair !== '' && !pair.includes('{'))
  return `${base}?${[...kept, query].join('&')}`
}
