// A form of some of an app's reward settings. It sends its own settings only: each section is saved apart.
import { Button, Group, Stack } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import type { ReactNode } from 'react'
import { patch } from '../../lib/api.ts'
import type { Schemas } from '../../lib/api-types.ts'
import { isOperator, mayWrite, seesMoney, useMe } from '../../lib/me.ts'
import type { BodyOf } from '../../lib/operations.ts'
import { useChange } from '../../lib/queries.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { FormError } from '../form-error.tsx'

export type RewardSettings = Schemas['RewardSettings']
export type RewardChange = BodyOf<'PATCH /apps/{app_id}/rewards'>
export type SectionProps = { appId: string; settings: RewardSettings }

/** Whether the person may change them: like the rate of an app. */
export function useMaySetRewards(): boolean {
  const me = useMe()
  return seesMoney(me) && (mayWrite(me) || !isOperator(me))
}

type SettingsFormProps<V extends Record<string, unknown>> = {
  appId: string
  form: UseFormReturnType<V>
  /** As the settings are now. */
  shown: V
  bodyOf: (values: V) => RewardChange
  children: ReactNode
}

export function SettingsForm<V extends Record<string, unknown>>(props: SettingsFormProps<V>) {
  const { appId, form, shown, bodyOf, children } = props
  const mayChange = useMaySetRewards()
  const save = useChange((body: RewardChange) => patch(`/apps/${appId}/rewards`, body), {
    refresh: [`/apps/${appId}`],
    done: 'Saved, effective immediately.',
    onError: () => {},
  })
  const { formProps, isSending, error } = useSubmit(
    form,
    async (values) => {
      await save.mutateAsync(bodyOf(values))
    },
    { follows: shown },
  )
  return (
    <form {...formProps}>
      <Stack>
        <FormError error={error} />
        {children}
        {mayChange && (
          <Group>
            <Button type="submit" loading={isSending} disabled={!form.isDirty()}>
              Save
            </Button>
          </Group>
        )}
      </Stack>
    </form>
  )
}
