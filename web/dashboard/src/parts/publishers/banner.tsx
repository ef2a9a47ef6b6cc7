// On every page of a publisher that is not active: why its keys do not work.
import { Alert } from '@mantine/core'
import { useRoute } from 'wouter'
import { isOperator, useMe } from '../../lib/me.ts'
import { useGet } from '../../lib/queries.ts'

const OWN = {
  pending: {
    title: 'Your account is awaiting approval',
    text: 'Test keys already work. Live keys start working once the network approves your account.',
  },
  suspended: {
    title: 'Your account is suspended',
    text: 'API keys and offer links do not work. Conversions of earlier clicks are still recorded and owed to you. Contact the operator.',
  },
}
const OTHERS = {
  pending: { title: 'This publisher is awaiting approval', text: 'Only test keys work. Set the status to active on the publisher’s page.' },
  suspended: { title: 'This publisher is suspended', text: 'Its API keys and offer links do not work.' },
} // prettier-ignore

const refused = (reason: string) => ({
  title: 'Your application was refused',
  text: `Your keys do not work. Contact the operator if this can be resolved. Reason: ${reason}`,
})

export function PublisherBanner() {
  const me = useMe()
  const visited = useVisited()
  const status = isOperator(me) ? visited : me.publisher?.status
  if (status !== 'pending' && status !== 'suspended') return null
  const refusal = me.publisher?.refusal ?? null
  const { title, text } = refusal === null ? (isOperator(me) ? OTHERS : OWN)[status] : refused(refusal)
  return (
    <Alert color={status === 'pending' ? 'yellow' : 'red'} title={title} mb="md" role="status">
      {text}
    </Alert>
  )
}

/** The status of the publisher whose page an operator looks at. */
function useVisited(): string | undefined {
  const me = useMe()
  const [, own] = useRoute<{ id: string }>('/publishers/:id/*?')
  const [, network] = useRoute<{ id: string }>('/network/publishers/:id')
  const [, app] = useRoute<{ id: string }>('/apps/:id/*?')
  const opened = useGet(isOperator(me) && app !== null ? `/apps/${app.id}` : null)
  const publisherId = own?.id ?? network?.id ?? opened.data?.publisher_id
  const isShown = isOperator(me) && publisherId !== undefined
  return useGet(isShown ? `/publishers/${encodeURIComponent(publisherId)}` : null).data?.status
}
