// Clicks of users who were erased while their clicks waited in the spool.
import type { FindErased } from '../apps/erased-users.ts'

type OfUser = { app_id: number; is_test: boolean; user_id: string; clicked_at: string }

/** Under their pseudonym, and without what names them. */
export async function withoutErased<Click extends OfUser>(clicks: Click[], findErased: FindErased): Promise<Click[]> {
  const found = await findErased(
    clicks.map((click) => ({
      appId: click.app_id,
      isTest: click.is_test,
      userId: click.user_id,
      at: new Date(click.clicked_at),
    })),
  )
  return clicks.map((click, i) => {
    const pseudonym = found[i] ?? null
    return pseudonym === null ? click : { ...click, user_id: pseudonym, ...NOT_PERSONAL }
  })
}

/** What is left of a click of an erased user. */
const NOT_PERSONAL = { aff_sub: null, aff_sub2: null, aff_sub3: null, aff_sub4: null, ip: null, os: null }
