import { TextInput, type TextInputProps } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useEffect, useRef, useState } from 'react'

const PATIENCE_MS = 350

type FilterTextProps = Omit<TextInputProps, 'value' | 'onChange'> & {
  value: string | undefined
  onChange: (value: string) => void
}

/** A filter that is typed: it takes effect when the typing rests. */
export function FilterText({ value = '', onChange, ...rest }: FilterTextProps) {
  const [text, setText] = useState(value)
  const sent = useRef(value)
  const send = useDebouncedCallback((typed: string) => {
    sent.current = typed
    onChange(typed)
  }, PATIENCE_MS)
  // Changed from elsewhere, such as by going back; not the echo of what was typed.
  useEffect(() => {
    if (value === sent.current) return
    sent.current = value
    setText(value)
  }, [value])
  return (
    <TextInput
      {...rest}
      value={text}
      onChange={({ currentTarget }) => {
        setText(currentTarget.value)
        send(currentTarget.value.trim())
      }}
    />
  )
}
