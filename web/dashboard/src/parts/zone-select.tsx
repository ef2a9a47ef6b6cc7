import { Select, type SelectProps } from '@mantine/core'
import { useMemo } from 'react'

type ZoneSelectProps = Omit<SelectProps, 'data' | 'value'> & {
  value: string
  /** What an empty value stands for; without it there is none. */
  emptyLabel?: string
}

/** Any time zone by its IANA name. */
export function ZoneSelect({ value, emptyLabel, ...props }: ZoneSelectProps) {
  const data = useMemo(() => {
    const names = [...new Set(['UTC', value, ...Intl.supportedValuesOf('timeZone')])].filter((name) => name !== '')
    const zones = names.map((name) => ({ value: name, label: name }))
    return emptyLabel === undefined ? zones : [{ value: '', label: emptyLabel }, ...zones]
  }, [value, emptyLabel])
  return (
    <Select
      label="Time zone"
      searchable
      allowDeselect={false}
      limit={100}
      nothingFoundMessage="No such time zone"
      data={data}
      value={value}
      {...props}
    />
  )
}
