import { useParams } from 'wouter'
import { Page } from '../../parts/page.tsx'
import { PostbackDetails } from '../../parts/postbacks/postback-details.tsx'

export default function Postback() {
  const { app_id, postback_id } = useParams<{ app_id: string; postback_id: string }>()
  const base = `/apps/${app_id}` as const
  return (
    <Page title="Postback">
      <PostbackDetails base={base} postbackId={postback_id} />
    </Page>
  )
}
