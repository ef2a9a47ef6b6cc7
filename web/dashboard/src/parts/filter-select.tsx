import { Select, type SelectProps } from '@mantine/core'

type FilterSelectProps = Omit<SelectProps, 'value' | 'onChange'> & {
  value: string | undefined
  onChange: (value: string | null) => void
}

/** A filter that is chosen, or left open. */
export function FilterSelect({ value, ...rest }: FilterSelectProps) {
  return <Select placeholder="Any" clearable value={value ?? null} {...rest} />
}
