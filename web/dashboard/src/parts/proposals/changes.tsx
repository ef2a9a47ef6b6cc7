// What a proposal changes, field by field.
import { Badge, Group, List, Text } from '@mantine/core'
import { OFFER_FIELDS, type Schemas } from '../../lib/api-types.ts'
import { formatUsd } from '../../lib/format.ts'
import { DataTable } from '../data-table.tsx'
import { Value } from '../field-value.tsx'
import { Time } from '../time.tsx'

type Change = Schemas['AdvertiserProposal']['changes'][number] & { changed_since?: boolean }
type Field = Change['field']
type Goal = { name: string; description: string; revenue: number; revenue_percent: number | null; is_optional: boolean }

const isFormField = (field: Field): field is Field & keyof typeof OFFER_FIELDS => field in OFFER_FIELDS
export const fieldName = (field: Field) =>
  isFormField(field) ? OFFER_FIELDS[field].label : field === 'goals' ? 'Goals' : 'Translations'

type ChangesProps = {
  changes: Change[]
  /** A new offer has no values before. */
  isNew: boolean
  /** What the values before are called. */
  beforeName: string
}

export function Changes({ changes, isNew, beforeName }: ChangesProps) {
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
              {fieldName(field)}
              {changed_since === true && (
                <Badge variant="light" color="orange" tt="none">
                  edited since
                </Badge>
              )}
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
    {goals.map((goal) => (
      <List.Item key={goal.name}>
        {goal.name} · {priceOf(goal)}
        {goal.is_optional && ' · optional'}
        {goal.description !== '' && (
          <Text size="xs" c="dimmed">
            {goal.description}
          </Text>
        )}
      </List.Item>
    ))}
  </List>
)

const priceOf = ({ revenue, revenue_percent }: Goal) =>
  revenue_percent === null ? formatUsd(revenue) : `${revenue_percent} % of the amount`
