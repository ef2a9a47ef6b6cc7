// What an app does not want to show.
import { Button, Checkbox, Group, Stack, Switch, TagsInput, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { Schemas } from '../../lib/api-types.ts'
import { put } from '../../lib/api.ts'
import { formatCount } from '../../lib/format.ts'
import { mayWrite, useMe } from '../../lib/me.ts'
import { useChange, useGet } from '../../lib/queries.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import type { BodyOf } from '../../lib/operations.ts'
import { CATEGORIES, choicesOf } from '../../lib/words.ts'
import { FormError } from '../form-error.tsx'
import { Loaded } from '../page.tsx'
import { Section } from '../section.tsx'

type Rules = Schemas['ContentRules']

export function ContentRulesSection({ appId }: { appId: string }) {
  const rules = useGet(`/apps/${appId}/content-rules`)
  return (
    <Section
      title="Content rules"
      about="This app never shows offers that these rules exclude, and their links don’t work in it."
    >
      <Loaded query={rules}>{(data) => <RulesForm key={appId} appId={appId} rules={data} />}</Loaded>
    </Section>
  )
}

function RulesForm({ appId, rules }: { appId: string; rules: Rules }) {
  const isReader = !mayWrite(useMe())
  const form = useForm({
    initialValues: {
      blocked_categories: rules.blocked_categories,
      blocked_keywords: rules.blocked_keywords,
      payment_offers: rules.payment_offers,
    },
  })
  const save = useChange(
    (body: BodyOf<'PUT /apps/{app_id}/content-rules'>) => put(`/apps/${appId}/content-rules`, body),
    {
      refresh: [`/apps/${appId}/content-rules`, `/apps/${appId}/offers`],
      done: 'Saved, effective immediately.',
      onError: () => {},
    },
  )
  const { formProps, isSending, error } = useSubmit(form, async (values) => {
    const saved = await save.mutateAsync(values)
    const { blocked_categories, blocked_keywords, payment_offers } = saved
    return { blocked_categories, blocked_keywords, payment_offers }
  })
  return (
    <form {...formProps}>
      <Stack>
        <FormError error={error} />
        <Text role="status">
          {formatCount(rules.offers_left)} of {formatCount(rules.offers_total)} active offers are allowed.
        </Text>
        <Checkbox.Group label="Blocked categories" {...form.getInputProps('blocked_categories')}>
          <Group mt="xs">
            {choicesOf(CATEGORIES).map(({ value, label }) => (
              <Checkbox key={value} value={value} label={label} disabled={isReader} />
            ))}
          </Group>
        </Checkbox.Group>
        <TagsInput
          label="Blocked words"
          description="Whole words in the name or description, case-insensitive; casino* also matches casinos. Press Enter after each."
          placeholder={form.values.blocked_keywords.length === 0 ? 'casino' : ''}
          disabled={isReader}
          acceptValueOnBlur
          maxTags={200}
          {...form.getInputProps('blocked_keywords')}
        />
        <Switch
          label="Show offers that require a payment by the user"
          disabled={isReader}
          {...form.getInputProps('payment_offers', { type: 'checkbox' })}
        />
        {!isReader && (
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
