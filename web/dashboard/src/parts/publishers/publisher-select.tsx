import { Select, type SelectProps } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useState } from 'react'
import { useGet } from '../../lib/queries.ts'

const PAUSE_MS = 200
const labelOf = ([id, name]: [id: string, name: string]) => `${name} (${id})`

/** Found by the server while one types: there may be many. */
export function PublisherSelect(props: Omit<SelectProps, 'data'>) {
  const [typed, setTyped] = useState('')
  const [search] = useDebouncedValue(typed, PAUSE_MS)
  const value = props.value ?? ''
  const chosen = useGet(value === '' ? null : `/publishers/${encodeURIComponent(value)}`)
  const isChosen = chosen.data !== undefined && labelOf([value, chosen.data.name]) === search
  const found = useGet('/publishers', { query: { search: isChosen ? '' : search.trim(), limit: 50 } })
  const all = [...(value !== '' && chosen.data !== undefined ? [chosen.data] : []), ...(found.data?.publishers ?? [])]
  const names = new Map(all.map(({ publisher_id, name }) => [String(publisher_id), name]))
  return (
    <Select
      {...props}
      searchable
      nothingFoundMessage={found.isFetching ? 'Searching …' : 'No publisher matches'}
      data={[...names].map((one) => ({ value: one[0], label: labelOf(one) }))}
      searchValue={typed}
      onSearchChange={setTyped}
    />
  )
}

/** The apps of a publisher. One that is chosen already tells whose it is. */
export function AppSelect({ publisherId, ...props }: Omit<SelectProps, 'data'> & { publisherId: string | undefined }) {
  const value = props.value ?? ''
  const chosen = useGet(value === '' ? null : `/apps/${encodeURIComponent(value)}`)
  const owner = publisherId ?? (value === '' ? undefined : chosen.data?.publisher_id)
  const apps = useGet(owner === undefined ? null : `/publishers/${encodeURIComponent(owner)}/apps`)
  const all = [...(value !== '' && chosen.data !== undefined ? [chosen.data] : []), ...(apps.data?.apps ?? [])]
  const names = new Map(all.map(({ app_id, name }) => [String(app_id), name]))
  return (
    <Select
      {...props}
      {...(owner === undefined ? { placeholder: 'Select publisher', disabled: true } : {})}
      searchable
      limit={50}
      nothingFoundMessage="No app matches"
      data={[...names].map((one) => ({ value: one[0], label: labelOf(one) }))}
    />
  )
}
