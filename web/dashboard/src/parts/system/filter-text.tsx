import { TextInput, type TextInputProps } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useEffect, useState } from 'react'

const PAUSE_MS = 300

type FilterTextProps = Omit<TextInputProps, 'value' | 'onChange'> & {
  value: string
  onChange: (value: string) => void
}

/** A filter that somebody types: it counts once they pause. */
export function FilterText({ value, onChange, ...props }: FilterTextProps) {
  const [typed, setTyped] = useState(value)
  // Somebody may clear the filter from elsewhere.
  useEffect(() => setTyped((now) => (now.trim() === value ? now : value)), [value])
  const commit = useDebouncedCallback(onChange, PAUSE_MS)
  return (
    <TextInput
      maxLength={100}
      {...props}
      value={typed}
      onChange={(event) => {
        setTyped(event.currentTarget.value)
        commit(event.currentTarget.value.trim())
      }}
    />
  )
}
