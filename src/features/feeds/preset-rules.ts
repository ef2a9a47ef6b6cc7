// The rules of an advertiser's callbacks that came with the presets of its feeds: they stay, whatever else is set.
import type { Db, Trx } from '../../db/open.ts'
import { type Advertiser, getAdvertiser } from '../accounts/advertisers.ts'
import { type CallRules, type IgnoredCall, isSameRule } from '../accounts/call-rules.ts'
import type { Preset } from './presets/preset.ts'
import { presetOf } from './presets/presets.ts'

/** `preset`: the title of the one that it came with; null: an operator has set it. */
export type ShownRules = { ignored: (IgnoredCall & { preset: string | null })[]; only_goal: boolean; only_goal_preset: string | null } // prettier-ignore

export async function showCallRules(
  db: Db,
  advertiser: Pick<Advertiser, 'advertiser_id' | 'call_rules'>,
): Promise<ShownRules> {
  const { ignored = [], only_goal = false } = advertiser.call_rules
  const presets = ignored.length > 0 || only_goal ? await presetsOf(db, advertiser.advertiser_id) : []
  const titleOf = (rule: IgnoredCall) => presets.find(({ back }) => back.ignored?.some((one) => isSameRule(one, rule)))?.title ?? null // prettier-ignore
  return {
    ignored: ignored.map((rule) => ({ ...rule, preset: titleOf(rule) })),
    only_goal,
    only_goal_preset: only_goal ? (presets.find(({ back }) => back.only_goal === true)?.title ?? null) : null,
  }
}

/** What is to be stored where these are set. A feed that is added meanwhile adds its rules afterwards. */
export async function joinPresetRules(trx: Trx, advertiserId: number, given: CallRules): Promise<CallRules> {
  await trx.selectFrom('advertisers').select('advertiser_id').where('advertiser_id', '=', advertiserId).forNoKeyUpdate().execute() // prettier-ignore
  const { ignored, only_goal_preset } = await showCallRules(trx, await getAdvertiser(trx, advertiserId))
  const ofPresets = ignored.filter(({ preset }) => preset !== null).map(({ preset: _preset, ...rule }) => rule)
  // Installations of before may have one twice: by an operator and by a preset.
  const kept = ofPresets.filter((rule, i) => ofPresets.findIndex((one) => isSameRule(one, rule)) === i)
  const own = (given.ignored ?? []).filter((rule) => !kept.some((one) => isSameRule(one, rule)))
  return { ignored: [...kept, ...own], only_goal: given.only_goal === true || only_goal_preset !== null }
}

async function presetsOf(db: Db, advertiserId: number): Promise<Preset[]> {
  const feeds = await db.selectFrom('feeds').select('preset').distinct().where('advertiser_id', '=', advertiserId).where('preset', 'is not', null).orderBy('preset').execute() // prettier-ignore
  return feeds.flatMap(({ preset }) => presetOf(preset ?? '') ?? [])
}
