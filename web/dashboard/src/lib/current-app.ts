import { useRoute } from 'wouter'
import { isOperator, useMe } from './me.ts'
import { useGet } from './queries.ts'

/** The app whose pages are shown or, for a publisher's people, their first one elsewhere; and all that they have. */
export function useCurrentApp() {
  const me = useMe()
  const [, match] = useRoute<{ app_id: string }>('/apps/:app_id/*?')
  const publisherId = me.publisher?.publisher_id
  const apps = useGet(publisherId === undefined ? null : `/publishers/${publisherId}/apps`).data?.apps ?? []
  const shown = useGet(isOperator(me) && match !== null ? `/apps/${match.app_id}` : null).data
  const appId = match?.app_id ?? (apps[0] === undefined ? undefined : String(apps[0].app_id))
  const own = apps.find(({ app_id }) => String(app_id) === appId)
  return { appId, name: shown?.name ?? own?.name ?? 'App', apps, publisherId, shown }
}
