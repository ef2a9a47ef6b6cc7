// Which offer is listed where several are for one product.
import { MultiSelect, Select, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { Schemas } from '../../lib/api-types.ts'
import { put } from '../../lib/api.ts'
import { useChange, useGet } from '../../lib/queries.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { Loaded } from '../page.tsx'
import { Section } from '../section.tsx'
import { SubmitForm } from '../submit-form.tsx'

type Rule = Schemas['ProductRule']

const RULES: { value: Rule['rule']; label: string }[] = [
  { value: 'highest_payout', label: 'Highest payout' },
  { value: 'best_epc', label: 'Highest earnings per click' },
  { value: 'fixed_order', label: 'By order of advertisers' },
  { value: 'all', label: 'List all' },
]

/** `advertisers`: those of feeds. */
export function ProductRuleSection(props: { mayChange: boolean; advertisers: { value: string; label: string }[] }) {
  const rule = useGet('/product-rule')
  return (
    <Section
      title="Offers for the same product"
      about="If several feeds have offers for the same product, only one offer is listed. When that offer is paused or reaches a cap, the next one takes its place. Links to all of them work."
    >
      <Loaded query={rule}>{(data) => <RuleForm key={JSON.stringify(data)} rule={data} {...props} />}</Loaded>
    </Section>
  )
}

function RuleForm({ rule, mayChange, advertisers }: { rule: Rule } & Parameters<typeof ProductRuleSection>[0]) {
  const form = useForm({ initialValues: { rule: rule.rule, order: rule.order.map(String) } })
  const save = useChange((values: typeof form.values) => put('/product-rule', { ...values, order: values.order.map(Number) }), { refresh: ['/product-rule'], done: 'Saved.', onError: () => {} }) // prettier-ignore
  const submit = useSubmit(form, async (values) => {
    await save.mutateAsync(values)
  })
  return (
    <SubmitForm
      submit={submit}
      action="Save"
      mayChange={mayChange}
      button={{ disabled: !form.isDirty(), w: 'fit-content' }}
    >
      <Stack maw={480}>
        <Select
          label="Offer to list"
          allowDeselect={false}
          data={RULES}
          disabled={!mayChange}
          {...form.getInputProps('rule')}
        />{' '}
        {/* prettier-ignore */}
        {form.values.rule === 'fixed_order' && (
          <MultiSelect
            label="Order"
            description="Most preferred first. Advertisers that are not listed here follow, by payout."
            data={advertisers}
            searchable
            disabled={!mayChange}
            {...form.getInputProps('order')}
          />
        )}
      </Stack>
    </SubmitForm>
  )
}
