import { TextInput } from '@mantine/core'

type FilterDayProps = { label: string; value: string | undefined; onChange: (day: string) => void }

export const FilterDay = ({ label, value, onChange }: FilterDayProps) => (
  <TextInput
    type="date"
    label={label}
    value={value ?? ''}
    onChange={({ currentTarget }) => onChange(currentTarget.value)}
  />
)
