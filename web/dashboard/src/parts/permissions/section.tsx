// What the operator lets a publisher do.
import { Button, Group, SegmentedControl, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { readAmount } from '../../lib/amounts.ts'
import type { Schemas } from '../../lib/api-types.ts'
import { patch } from '../../lib/api.ts'
import { mayWrite, useMe } from '../../lib/me.ts'
import { queryClient, useGet } from '../../lib/queries.ts'
import { useFollow } from '../../lib/use-follow.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { confirm } from '../confirm.tsx'
import { FormError } from '../form-error.tsx'
import { Loaded } from '../page.tsx'
import { Section } from '../section.tsx'
import { Status } from '../status.tsx'

type Shown = Schemas['Permissions']

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

function describeOffers({ only_listed_offers, allowed_offers, denied_offers }: Shown): string {
  if (only_listed_offers)
    return allowed_offers.length === 0 ? 'No offers allowed.' : `Allowed offers: ${allowed_offers.join(', ')}.`
  return denied_offers.length === 0 ? 'All offers allowed.' : `All offers allowed except ${denied_offers.join(', ')}.`
}

const wordsOf = (text: string) => text.split(/[\s,;]+/).filter((word) => word !== '')

function checkIds(text: string): string | null {
  const wrong = wordsOf(text).find((word) => !/^\d{1,15}$/.test(word))
  return wrong === undefined ? null : `“${wrong}” is not an offer ID. Separate IDs with commas or spaces.`
}

function checkPercent(text: string): string | null {
  const percent = readAmount(text)
  return percent === null || percent > 100 ? 'Enter a percentage from 0 to 100, such as 12.5.' : null
}

const valuesOf = (shown: Shown) => ({
  status: shown.status as string,
  margin_percent: String(shown.margin_percent),
  mode: shown.only_listed_offers ? 'only' : 'all',
  ids: (shown.only_listed_offers ? shown.allowed_offers : shown.denied_offers).join(', '),
})

function PermissionsForm({ path, shown }: { path: `/publishers/${string}/permissions`; shown: Shown }) {
  const form = useForm({
    initialValues: valuesOf(shown),
    validate: { margin_percent: checkPercent, ids: checkIds },
  })
  useFollow(form, valuesOf(shown))
  const { onSubmit, isSending, error } = useSubmit(form, async ({ status, margin_percent, mode, ids }) => {
    const isOnly = mode === 'only'
    const listed = wordsOf(ids).map(Number)
    if (status === 'suspended' && shown.status !== 'suspended' && !(await confirm(SUSPENDING))) return
    try {
      await patch(path, {
        status,
        margin_percent: readAmount(margin_percent),
        offers: { only_listed: isOnly, allowed: isOnly ? listed : [], denied: isOnly ? [] : listed },
        seen_version: shown.version,
      })
    } finally {
      await queryClient.invalidateQueries({ queryKey: [path.replace('/permissions', '')] })
      await queryClient.invalidateQueries({ queryKey: [path] }) // refused: what it is now is shown beside what was typed
    }
    notifications.show({ message: 'Saved, effective immediately.', color: 'green' })
  })
  const { status, mode } = form.values
  return (
    <form onSubmit={onSubmit}>
      <Stack maw={560}>
        <FormError error={error} />
        <div>
          <Text size="sm" fw={500} id="publisher-status">
            Status
          </Text>
          <SegmentedControl
            aria-labelledby="publisher-status"
            data={Object.keys(STATUSES)}
            {...form.getInputProps('status')}
          />
          <Text size="sm" c="dimmed">
            {STATUSES[status as keyof typeof STATUSES]}
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
              { value: 'all', label: 'All except' },
              { value: 'only', label: 'Only' },
            ]}
            {...form.getInputProps('mode')}
          />
        </div>
        <Textarea
          label={mode === 'only' ? 'Allowed offers' : 'Blocked offers'}
          description="Offer IDs, separated by commas or spaces."
          autosize
          minRows={1}
          {...form.getInputProps('ids')}
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
