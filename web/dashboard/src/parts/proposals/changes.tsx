// What a proposal changes, field by field.
import { Group, List, Text } from '@mantine/core'
import { OFFER_FIELDS, type Schemas } from '../../lib/api-types.ts'
import { formatUsd } from '../../lib/format.ts'
import { DataTable } from '../data-table.tsx'
import { Value } from '../field-value.tsx'
import { labelOf, type Reader } from '../network-offers/values.ts'
import { Time } from '../time.tsx'
import { Tag } from '../status.tsx'

type Change = Schemas['AdvertiserProposal']['changes'][number] & { changed_since?: boolean }
type Field = Change['field']
type Goal = {
  name: string
  description: string
  external_id: string | null
  revenue: number
  revenue_percent: number | null
  is_optional: boolean
  is_repeatable: boolean
  translations: Record<string, unknown>
}

const isFormField = (field: Field): field is Field & keyof typeof OFFER_FIELDS => field in OFFER_FIELDS
export const fieldName = (field: Field, reader: Reader) =>
  isFormField(field) ? labelOf(field, reader) : field === 'goals' ? 'Goals' : 'Translations'

type ChangesProps = {
  reader: Reader
  changes: Change[]
  /** A new offer has no values before. */
  isNew: boolean
  /** What the values before are called. */
  beforeName: string
}

export function Changes({ reader, changes, isNew, beforeName }: ChangesProps) {
  return (
    <DataTable
      label="Changes"
      isPlain
      minWidth={isNew ? 360 : 560}
      rows={changes}
      rowKey={({ field }) => field}
      columns={[
        {
          name: 'Field',
          cell: ({ field, changed_since }) => (
            <Group gap="xs">
              {fieldName(field, reader)}
              {changed_since === true && <Tag color="orange">Edited since</Tag>}
            </Group>
          ),
        },
        ...(isNew
          ? []
          : [
              {
                name: beforeName,
                isText: true,
                cell: ({ field, before }: Change) => <Shown field={field} value={before} />,
              },
            ]),
        { name: 'Proposed', isText: true, cell: ({ field, after }) => <Shown field={field} value={after} /> },
      ]}
    />
  )
}

function Shown({ field, value }: { field: Field; value: unknown }) {
  if (field === 'goals' && Array.isArray(value)) return <Goals goals={value as Goal[]} />
  if ((field === 'starts_at' || field === 'ends_at') && typeof value === 'string') return <Time at={value} />
  return <Value value={value} />
}

const Goals = ({ goals }: { goals: Goal[] }) => (
  <List size="sm">
    {goals.map((goal, i) => (
      <List.Item key={i}>
        {goal.name} · {priceOf(goal)}
        {goal.is_optional && ' · optional'}
        {goal.is_repeatable && ' · repeatable'}
        {goal.external_id !== null && ` · external ID ${goal.external_id}`}
        {goal.description !== '' && (
          <Text size="xs" c="dimmed">
            {goal.description}
          </Text>
        )}
        {Object.keys(goal.translations).length > 0 && <Value value={goal.translations} />}
      </List.Item>
    ))}
  </List>
)

const priceOf = ({ revenue, revenue_percent }: Goal) =>
  revenue_percent === null ? formatUsd(revenue) : `${revenue_percent} % of the amount`
