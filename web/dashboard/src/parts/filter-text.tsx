import { TextInput, type TextInputProps } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useEffect, useRef, useState } from 'react'

const PAUSE_MS = 300

type FilterTextProps = Omit<TextInputProps, 'value' | 'onChange'> & {
  value: string | undefined
  onChange: (value: string) => void
}

/** A filter that is typed: it takes effect when the typing pauses, and at once when the field is left. */
export function FilterText({ value = '', onChange, ...props }: FilterTextProps) {
  const [typed, setTyped] = useState(value)
  const sent = useRef(value)
  const send = useDebouncedCallback((text: string) => {
    sent.current = text
    onChange(text)
  }, PAUSE_MS)
  // Changed from elsewhere, such as by going back; not the echo of what was typed.
  useEffect(() => {
    if (value === sent.current) return
    sent.current = value
    setTyped(value)
  }, [value])
  return (
    <TextInput
      maxLength={100}
      {...props}
      value={typed}
      onChange={(event) => {
        setTyped(event.currentTarget.value)
        send(event.currentTarget.value.trim())
      }}
      onBlur={() => send.flush()}
    />
  )
}
