// What the operator lets a publisher do.
import { Button, Group, SegmentedControl, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { amountOf, readAmount } from '../../lib/amounts.ts'
import type { Schemas } from '../../lib/api-types.ts'
import { patch } from '../../lib/api.ts'
import { formatNoun } from '../../lib/format.ts'
import { mayWrite, useMe } from '../../lib/me.ts'
import { queryClient, useGet } from '../../lib/queries.ts'
import { PUBLISHER_STATUSES } from '../../lib/statuses.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { choicesOf } from '../../lib/words.ts'
import { confirm } from '../confirm.tsx'
import { FormError } from '../form-error.tsx'
import { OffersPicker } from '../network-offers/offer-picker.tsx'
import { Loaded } from '../page.tsx'
import { Section } from '../section.tsx'
import { Status } from '../status.tsx'

type Shown = Schemas['Permissions']

const MOST_NAMED = 100

const STATUSES = {
  pending: 'Awaiting approval; test keys only.',
  active: 'Fully active.',
  suspended: 'Keys and links do not work. Conversions of earlier clicks are still recorded and owed.',
} as const

const SUSPENDING = {
  title: 'Suspend this publisher?',
  text: 'API keys and offer links of all its apps stop working immediately. Conversions of earlier clicks are still recorded and owed.',
  action: 'Suspend',
}

export function PermissionsSection({ publisherId }: { publisherId: number }) {
  const path = `/publishers/${publisherId}/permissions` as const
  const permissions = useGet(path)
  const canWrite = mayWrite(useMe())
  return (
    <Section title="Permissions">
      <Loaded query={permissions}>
        {(shown) =>
          canWrite ? (
            <PermissionsForm path={path} shown={shown} />
          ) : (
            <Stack gap="xs">
              <Group>
                <Status value={shown.status} />
                <Text size="sm">{STATUSES[shown.status]}</Text>
              </Group>
              <Text size="sm">Margin: {shown.margin_percent}% of what offers pay.</Text>
              <Text size="sm">{describeOffers(shown)}</Text>
            </Stack>
          )
        }
      </Loaded>
    </Section>
  )
}

function describeOffers({ only_listed_offers, allowed_offers, denied_offers, offer_names }: Shown): string {
  const nameOf = new Map(offer_names.map(({ offer_id, name }) => [offer_id, name]))
  const names = (ids: number[]) => {
    const first = ids.slice(0, MOST_NAMED).map((id) => `${nameOf.get(id) ?? 'Offer'} (${id})`)
    return `${first.join(', ')}${ids.length > MOST_NAMED ? ` and ${formatNoun(ids.length - MOST_NAMED, 'more offer')}` : ''}`
  }
  if (only_listed_offers)
    return allowed_offers.length === 0 ? 'No offers allowed.' : `Allowed offers: ${names(allowed_offers)}.`
  return denied_offers.length === 0 ? 'All offers allowed.' : `All offers allowed except ${names(denied_offers)}.`
}

function checkPercent(text: string): string | null {
  const percent = readAmount(text)
  return percent === null || percent > 100 ? 'Enter a percentage from 0 to 100, such as 12.5.' : null
}

const valuesOf = (shown: Shown) => ({
  status: shown.status,
  margin_percent: String(shown.margin_percent),
  mode: shown.only_listed_offers ? 'only' : 'all',
  allowed: shown.allowed_offers,
  denied: shown.denied_offers,
})

/** The other list stays as it was, but for what is now in this one. */
function listsOf({ mode, allowed, denied }: Pick<ReturnType<typeof valuesOf>, 'mode' | 'allowed' | 'denied'>) {
  const without = (ids: number[], others: number[]) => ids.filter((id) => !others.includes(id))
  return mode === 'only'
    ? { only_listed: true, allowed, denied: without(denied, allowed) }
    : { only_listed: false, allowed: without(allowed, denied), denied }
}

function PermissionsForm({ path, shown }: { path: `/publishers/${string}/permissions`; shown: Shown }) {
  const form = useForm({
    initialValues: valuesOf(shown),
    validate: { margin_percent: checkPercent },
  })
  const { formProps, isSending, error } = useSubmit(
    form,
    async ({ status, margin_percent, ...offers }) => {
      if (status === 'suspended' && shown.status !== 'suspended' && !(await confirm(SUSPENDING))) return false
      try {
        await patch(path, {
          status,
          margin_percent: amountOf(margin_percent),
          offers: listsOf(offers),
          seen_version: shown.version,
        })
      } finally {
        await queryClient.invalidateQueries({ queryKey: [path.replace('/permissions', '')] })
        await queryClient.invalidateQueries({ queryKey: [path] }) // refused: what it is now is shown beside what was typed
      }
      notifications.show({ message: 'Saved, effective immediately.', color: 'green' })
      return undefined
    },
    { follows: valuesOf(shown) },
  )
  const { status, mode } = form.values
  const list = mode === 'only' ? 'allowed' : 'denied'
  return (
    <form {...formProps}>
      <Stack maw={560}>
        <FormError error={error} />
        <div>
          <Text size="sm" fw={500} id="publisher-status">
            Status
          </Text>
          <SegmentedControl
            aria-labelledby="publisher-status"
            data={choicesOf(PUBLISHER_STATUSES)}
            {...form.getInputProps('status')}
          />
          <Text size="sm" c="dimmed">
            {STATUSES[status]}
          </Text>
        </div>
        <TextInput
          label="Margin"
          description="The share of offer payouts that the network keeps. Earlier clicks keep their terms."
          inputMode="decimal"
          rightSection="%"
          styles={{ wrapper: { maxWidth: 160 } }}
          {...form.getInputProps('margin_percent')}
        />
        <div>
          <Text size="sm" fw={500} id="publisher-offers">
            Offers
          </Text>
          <SegmentedControl
            aria-labelledby="publisher-offers"
            data={[
              { value: 'all', label: 'All offers except' },
              { value: 'only', label: 'Only these offers' },
            ]}
            {...form.getInputProps('mode')}
          />
        </div>
        <OffersPicker
          key={list}
          label={mode === 'only' ? 'Allowed offers' : 'Blocked offers'}
          description="Search by name or ID, or paste a list of IDs."
          placeholder="Name or ID"
          data-path="offers"
          error={form.errors['offers']}
          known={shown.offer_names}
          value={form.values[list]}
          onChange={(ids) => {
            form.setFieldValue(list, ids)
            form.clearFieldError('offers')
          }}
        />
        <Group>
          <Button type="submit" loading={isSending}>
            Apply
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
