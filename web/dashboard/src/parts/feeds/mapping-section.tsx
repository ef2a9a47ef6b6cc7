import { Button } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { Link } from 'wouter'
import type { Schemas } from '../../lib/api-types.ts'
import { patch } from '../../lib/api.ts'
import { useChange } from '../../lib/queries.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { Section } from '../section.tsx'
import { SubmitForm } from '../submit-form.tsx'
import { MappingEditor, NOT_JSON, parseObject } from './mapping-editor.tsx'
import { valuesOf } from './settings.tsx'

export function MappingSection({ feed, mayChange }: { feed: Schemas['Feed']; mayChange: boolean }) {
  const isPreset = feed.preset !== null
  const [own, setOwn] = useState({ request: JSON.stringify(feed.request, null, 2), mapping: JSON.stringify(feed.mapping, null, 2) }) // prettier-ignore
  const form = useForm<{ request: string; mapping: string }>({ initialValues: own })
  const save = useChange((values: { request: Record<string, unknown>; mapping: Record<string, unknown> }) => patch(`/feeds/${feed.feed_id}`, values), { refresh: ['/feeds'], done: 'Saved. The next run reads all offers again.', onError: () => {} }) // prettier-ignore
  const submit = useSubmit(form, async () => {
    const [request, mapping] = [parseObject(own.request), parseObject(own.mapping)]
    if (request === null || mapping === null) {
      form.setErrors({ ...(request === null ? { request: NOT_JSON } : {}), ...(mapping === null ? { mapping: NOT_JSON } : {}) }) // prettier-ignore
      return false
    }
    await save.mutateAsync({ request, mapping })
    return undefined
  })
  const editor = (
    <MappingEditor
      own={own}
      onChange={(next) => {
        setOwn(next)
        form.setValues(next)
      }}
      settings={valuesOf(feed.settings)}
      credentials={{}}
      feedId={feed.feed_id}
      errors={form.errors}
      disabled={!mayChange}
    />
  )
  return (
    <Section
      title="Request and mapping"
      about={isPreset ? 'Set by the preset. You can try changes here, but not save them: to keep changes, copy to a custom feed.' : 'How offers are requested from the network, and how they are mapped to yours.'} // prettier-ignore
      action={
        isPreset &&
        mayChange && (
          <Button component={Link} href={`/network/feeds/new?copy=${feed.preset}`} variant="default" size="xs">
            Copy to a custom feed
          </Button>
        )
      }
    >
      {isPreset || !mayChange ? editor : <SubmitForm submit={submit} action="Save" button={{ style: { alignSelf: 'flex-start' } }}>{editor}</SubmitForm>}
    </Section>
  ) // prettier-ignore
}
