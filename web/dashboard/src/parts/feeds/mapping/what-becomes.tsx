// What a mapping makes of the first offers, and what is wrong with it.
import { Alert, Button, List, Text } from '@mantine/core'
import type { Schemas } from '../../../lib/api-types.ts'
import { formatUsd } from '../../../lib/format.ts'
import { CATEGORIES, labelOf, PLATFORMS } from '../../../lib/words.ts'
import { type Column, DataTable } from '../../data-table.tsx'
import { Section } from '../../section.tsx'
import { sentence } from '../run.tsx'
import { useMappingForm } from './form-context.tsx'
import { SHOWN } from './open-sections.ts'
import { isJson } from './sources.ts'

type Tried = Schemas['TriedMapping']
type TriedOffer = Tried['offers'][number]

/** `isAll`: also those that stand at their fields. */
export function OtherProblems({ tried, isAll = false }: { tried: Tried | undefined; isAll?: boolean }) {
  const { mapping, change, disabled } = useMappingForm()
  const found = (tried?.problems ?? []).filter(({ place }) => isAll || !SHOWN.includes(place.split(/[.[]/)[0] ?? ''))
  const unknown = Object.keys(mapping).filter((name) => !SHOWN.includes(name))
  if (found.length === 0) return null
  return (
    <Alert color="yellow" title="The mapping cannot be used yet" role="status">
      <List size="sm">
        {found.map(({ place, message }) => (
          <List.Item key={place + message}>{message}</List.Item>
        ))}
      </List>
      {!isAll && !disabled && unknown.map((name) => (
        <Button key={name} variant="default" size="compact-xs" mt="xs" mr="xs" onClick={() => change([name], undefined)}>
          Remove {name}
        </Button>
      ))}
    </Alert>
  )
} // prettier-ignore

export function WhatBecomes({ tried }: { tried: Tried }) {
  const isUsable = tried.problems.length === 0
  return (
    <Section title="Resulting offers" about="With the payouts that publishers get.">
      {isUsable ? (
        <DataTable
          label="Resulting offers"
          isPlain
          minWidth={760}
          rows={tried.offers}
          rowKey={({ external_id }) => external_id}
          empty={<Text size="sm">The list of offers is empty.</Text>}
          columns={COLUMNS}
        />
      ) : (
        <Text size="sm" c="dimmed">
          Offers appear here once all problems above are fixed.
        </Text>
      )}
    </Section>
  )
}

const textsIn = (offer: TriedOffer['offer'], name: string) => (Array.isArray(offer?.[name]) ? (offer[name] as unknown[]).map(String) : []) // prettier-ignore

const MOST_COUNTRIES = 6

function countriesOf(offer: TriedOffer['offer']): string {
  const countries = textsIn(offer, 'countries')
  const more = countries.length - MOST_COUNTRIES
  return `${countries.slice(0, MOST_COUNTRIES).join(', ') || 'all'}${more > 0 ? ` and ${more} more` : ''}`
}

function goalsOf(offer: TriedOffer['offer']): string {
  const goals = Array.isArray(offer?.['goals']) ? (offer['goals'] as unknown[]).filter(isJson) : []
  return goals.map((goal) => `${String(goal['name'])} ${formatUsd(Number(goal['payout']))}`).join(', ')
}

const COLUMNS: Column<TriedOffer>[] = [
  { name: 'External ID', isText: true, cell: ({ external_id }) => external_id || 'none' },
  { name: 'Offer', isText: true, cell: ({ name }) => name || 'none' },
  {
    name: 'Payout',
    isText: true,
    cell: ({ offer, problem }) => (offer === null ? sentence(problem ?? '') : formatUsd(Number(offer['payout']))),
  },
  { name: 'Goals', isText: true, cell: ({ offer }) => goalsOf(offer) },
  { name: 'Countries', isText: true, cell: ({ offer }) => (offer === null ? '' : countriesOf(offer)) },
  { name: 'Type', isShort: true, cell: ({ offer }) => (offer === null ? '' : [labelOf(CATEGORIES, String(offer['category'])), ...textsIn(offer, 'platforms').map((one) => labelOf(PLATFORMS, one))].join(', ')) }, // prettier-ignore
]
