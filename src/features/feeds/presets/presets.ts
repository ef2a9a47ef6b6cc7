import { adgate, bitlabs } from './adgate.ts'
import { adgem } from './adgem.ts'
import { affise } from './affise.ts'
import { ayet } from './ayet.ts'
import { cpalead } from './cpalead.ts'
import { everflow } from './everflow.ts'
import { lootably } from './lootably.ts'
import { offer18 } from './offer18.ts'
import type { Preset } from './preset.ts'
import { torox } from './torox.ts'
import { trackier } from './trackier.ts'
import { tune } from './tune.ts'

/** By name. */
export const PRESETS: readonly Preset[] = [adgate, adgem, affise, ayet, bitlabs, cpalead, everflow, lootably, offer18, torox, trackier, tune] // prettier-ignore

export const presetOf = (key: string): Preset | undefined => PRESETS.find((preset) => preset.key === key)
