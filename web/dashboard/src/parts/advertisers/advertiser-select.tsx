import { Select, type SelectProps } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useState } from 'react'
import { useGet } from '../../lib/queries.ts'

const PAUSE_MS = 200

/** Found by the server while one types: there may be many. */
export function AdvertiserSelect(props: Omit<SelectProps, 'data'>) {
  const [typed, setTyped] = useState('')
  const [search] = useDebouncedValue(typed, PAUSE_MS)
  const value = props.value ?? ''
  const chosen = useGet(value === '' ? null : `/advertisers/${value}`)
  const isChosenName = chosen.data?.name === search
  const found = useGet('/advertisers', { query: { search: isChosenName ? '' : search.trim(), limit: 50 } })
  const all = [...(value !== '' && chosen.data !== undefined ? [chosen.data] : []), ...(found.data?.advertisers ?? [])]
  const data = [...new Map(all.map(({ advertiser_id, name }) => [String(advertiser_id), name]))]
  return (
    <Select
      {...props}
      searchable
      nothingFoundMessage={found.isFetching ? 'Searching …' : 'No such advertiser. Create one under Advertisers.'}
      data={data.map(([id, label]) => ({ value: id, label }))}
      searchValue={typed}
      onSearchChange={setTyped}
    />
  )
}
