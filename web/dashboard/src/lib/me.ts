import { createContext, useContext } from 'react'
import type { Schemas } from './api-types.ts'

export type Me = Schemas['Me']

export const MeContext = createContext<Me | null>(null)

/** The person who is signed in. Only for pages that require it. */
export function useMe(): Me {
  const me = useContext(MeContext)
  if (me === null) throw new Error('You are not signed in.')
  return me
}

export const isOperator = (me: Me) => me.role === 'operator' || me.role === 'operator_reader'
/** Whether the person may change what an advertiser's people change themselves. */
export const mayWriteAdvertiser = (me: Me) => me.role === 'operator' || me.role === 'advertiser'
/** Whether the person may change what belongs to a publisher: secrets, people. */
export const isOwner = (me: Me) => me.role === 'operator' || me.role === 'publisher_owner'
/** Whether the person may change how an app works, or, among operators, anything. */
export const mayWrite = (me: Me) => ['operator', 'publisher_owner', 'publisher_developer'].includes(me.role)
/** Whether a publisher's money is theirs to see; all but readers may also set the rate. */
export const seesMoney = (me: Me) => isOperator(me) || ['publisher_owner', 'publisher_finance'].includes(me.role)
