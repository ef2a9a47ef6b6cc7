// Advertisers: their tokens, IP allowlists, mappings, and the URLs to hand out.
import { type Db, inTransaction } from '../../../db/open.ts'
import { AppError } from '../../../errors.ts'
import { type AdvertiserSettings, setAdvertiser } from '../../../features/accounts/advertiser-settings.ts'
import {
  type Advertiser,
  createAdvertiser,
  listAdvertisers,
  listTokens,
  rotateToken,
} from '../../../features/accounts/advertisers.ts'
import { setCallSignature } from '../../../features/accounts/call-signature.ts'
import { joinPresetRules, showCallRules } from '../../../features/feeds/preset-rules.ts'
import { listPostbackUrls } from '../../../features/offers/postback-urls.ts'
import { cutPage } from '../../../http/paging.ts'
import { parseDuration } from '../../../lib/duration.ts'
import type { ManageContext } from '../../context.ts'
import type { ManageRoutes } from '../../route.ts'
import { findAdvertiserOf } from '../../advertiser-record.ts'
import { TOKEN_PLACE } from '../../callback-shapes.ts'
import { AdvertiserParams } from '../../shapes.ts'
import { budgetRoutes } from './budget.ts'
import { callRoutes } from './calls.ts'
import {
  AdvertiserChange,
  AllowedIps,
  AdvertiserPage,
  AdvertiserSearch,
  IssuedAdvertiser,
  NewAdvertiser,
  PostbackUrls,
  RotatedToken,
  Rotation,
  ShownAdvertiser,
  SignatureSet,
} from './schema.ts'

const TAG = 'Advertisers of the network'
const LIMIT = 20
const MAX_GRACE_MS = 30 * 86_400_000

export function advertisersRoutes(routes: ManageRoutes, context: ManageContext): void {
  const { db, secretKey, config } = context

  const find = (advertiserId: number) => findAdvertiserOf(db, advertiserId)

  routes.get('/advertisers', {
    id: 'listAdvertisers',
    summary: 'List advertisers',
    about: 'With the number of their offers. Search by name.',
    tag: TAG,
    access: 'operator',
    query: AdvertiserSearch,
    reply: AdvertiserPage,
    async run({ query: { search, cursor, limit = LIMIT } }) {
      const found = await listAdvertisers(db, {
        ...(search === undefined ? {} : { search }),
        ...(cursor === undefined ? {} : { after: Number(cursor) }),
        limit: limit + 1,
      })
      const { page, nextCursor } = cutPage(found, limit, (one) => String(one.advertiser_id))
      return { advertisers: page, next_cursor: nextCursor }
    },
  })

  routes.post('/advertisers', {
    id: 'createAdvertiser',
    summary: 'Create an advertiser',
    about: 'Returns the callback token once.',
    tag: TAG,
    access: 'operator',
    sensitive: true,
    body: NewAdvertiser,
    reply: IssuedAdvertiser,
    async run({ body: { name }, by }) {
      return createAdvertiser(db, by, secretKey, name.trim())
    },
  })

  routes.get('/advertisers/:advertiser_id', {
    id: 'showAdvertiser',
    summary: 'Get an advertiser',
    about: 'IP allowlist, mappings of statuses and parameters, rules of its callbacks, and the tokens that work now.',
    tag: TAG,
    access: 'advertiser',
    params: AdvertiserParams,
    reply: ShownAdvertiser,
    async run({ params: { advertiser_id } }) {
      return present(db, await find(advertiser_id))
    },
  })

  routes.patch('/advertisers/:advertiser_id', {
    id: 'changeAdvertiser',
    summary: 'Change the mappings and IP allowlist of an advertiser',
    about: 'Each list that you send replaces the old one as a whole. Rules that came with the preset of a feed stay.',
    tag: TAG,
    access: 'operator',
    sensitive: true,
    params: AdvertiserParams,
    body: AdvertiserChange,
    reply: ShownAdvertiser,
    async run({ params: { advertiser_id }, body, by }) {
      await find(advertiser_id)
      const after = await inTransaction(db, async (trx) => {
        const callRules = body.call_rules && (await joinPresetRules(trx, advertiser_id, body.call_rules))
        return setAdvertiser(trx, by, advertiser_id, { ...settingsOf(body), ...(callRules && { callRules }) })
      })
      return present(db, after)
    },
  })

  routes.put('/advertisers/:advertiser_id/allowed-ips', {
    id: 'setAllowedIps',
    summary: 'Set the IP allowlist of an advertiser',
    about: 'Replaces the list. Callbacks from other addresses are refused; with an empty list, none are.',
    tag: TAG,
    access: 'advertiser',
    sensitive: true,
    params: AdvertiserParams,
    body: AllowedIps,
    reply: ShownAdvertiser,
    async run({ params: { advertiser_id }, body: { allowed_ips }, by }) {
      await find(advertiser_id)
      const after = await setAdvertiser(db, by, advertiser_id, { allowedIps: allowed_ips })
      return present(db, after)
    },
  })

  routes.put('/advertisers/:advertiser_id/signature', {
    id: 'setCallbackSignature',
    summary: 'Set how an advertiser signs its callbacks',
    about: 'Callbacks without the right signature are refused from then on. Null: signatures are not checked.',
    tag: TAG,
    access: 'advertiser',
    sensitive: true,
    params: AdvertiserParams,
    body: SignatureSet,
    reply: ShownAdvertiser,
    async run({ params: { advertiser_id }, body: { signature, secret = '' }, by }) {
      await find(advertiser_id)
      await setCallSignature(db, by, secretKey, advertiser_id, signature === null ? null : { signature, secret })
      return present(db, await find(advertiser_id))
    },
  })

  routes.post('/advertisers/:advertiser_id/rotate-token', {
    id: 'rotateAdvertiserToken',
    summary: 'Rotate the token of an advertiser',
    about: 'Returns a new token once. The old one keeps working for the grace period.',
    tag: TAG,
    access: 'advertiser',
    sensitive: true,
    params: AdvertiserParams,
    body: Rotation,
    reply: RotatedToken,
    async run({ params: { advertiser_id }, body: { grace }, by }) {
      const graceMs = parseDuration(grace)
      if (graceMs === null || graceMs > MAX_GRACE_MS)
        throw new AppError('INVALID_REQUEST', 'Some parameters are missing or invalid.', {
          grace: 'grace must be a time such as 90s, 15m, 24h or 7d, at most 30d.',
        })
      await find(advertiser_id)
      const rotated = await rotateToken(db, by, secretKey, advertiser_id, graceMs, new Date())
      return { token: rotated.token, old_token_expires_at: rotated.old_token_expires_at }
    },
  })

  routes.get('/advertisers/:advertiser_id/postback-urls', {
    id: 'listAdvertiserPostbackUrls',
    summary: 'List callback URLs for an advertiser',
    about: 'One URL for each goal of its first offers, with a placeholder for the token.',
    tag: TAG,
    access: 'advertiser',
    params: AdvertiserParams,
    reply: PostbackUrls,
    async run({ params: { advertiser_id } }) {
      const target = { publicUrl: config.publicUrl, token: TOKEN_PLACE }
      return { token_place: TOKEN_PLACE, ...(await listPostbackUrls(db, await find(advertiser_id), target)) }
    },
  })

  budgetRoutes(routes, context)
  callRoutes(routes, context)
}

type Change = {
  allowed_ips?: string[]
  status_map?: { theirs: string; status: string }[]
  aliases?: { parameter: string; theirs: string }[]
  negative_amount?: string
  decimal_mark?: string
  reversal_prefix?: string
  sees_publishers?: string
}

const settingsOf = (change: Change): Partial<AdvertiserSettings> => {
  const { allowed_ips, status_map, aliases, negative_amount, decimal_mark, reversal_prefix, sees_publishers } = change
  return {
    ...(allowed_ips && { allowedIps: allowed_ips }),
    ...(status_map && { statusMap: status_map.map(({ theirs, status }): [string, string] => [theirs, status]) }),
    ...(aliases && { aliases: aliases.map(({ parameter, theirs }): [string, string] => [parameter, theirs]) }),
    ...(negative_amount !== undefined && { negativeAmount: negative_amount }),
    ...(decimal_mark !== undefined && { decimalMark: decimal_mark }),
    ...(reversal_prefix !== undefined && { reversalPrefix: reversal_prefix }),
    ...(sees_publishers !== undefined && { seesPublishers: sees_publishers }),
  }
}

async function present(db: Db, advertiser: Advertiser) {
  const {
    advertiser_id,
    name,
    created_at,
    allowed_ips,
    status_map,
    aliases,
    negative_amount,
    decimal_mark,
    reversal_prefix,
  } = advertiser
  return {
    advertiser_id,
    name,
    created_at,
    allowed_ips,
    status_map: Object.entries(status_map).map(([theirs, status]) => ({ theirs, status: status as 'approved' })),
    aliases: Object.entries(aliases).flatMap(([parameter, names]) =>
      names.map((theirs) => ({ parameter: parameter as 'click_id', theirs })),
    ),
    negative_amount,
    decimal_mark,
    reversal_prefix,
    signature: advertiser.signature,
    call_rules: await showCallRules(db, advertiser),
    sees_publishers: advertiser.sees_publishers,
    tokens: await listTokens(db, advertiser_id, new Date()),
  }
}
