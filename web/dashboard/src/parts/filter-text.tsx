import { TextInput, type TextInputProps } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useEffect, useRef, useState } from 'react'
import { afterPress } from '../lib/press.ts'

const PAUSE_MS = 300

export type FilterTextProps = Omit<TextInputProps, 'value' | 'onChange'> & {
  value: string | undefined
  onChange: (value: string) => void
  /** What is wrong with it: then it does not take effect. */
  check?: (value: string) => string | null
}

/**
 * A filter that is typed: it takes effect when the typing pauses, or when the field is left; but never between the press
 * and the release of a click, which would then hit another row or none.
 */
export function FilterText({ value = '', onChange, check = () => null, error, ...props }: FilterTextProps) {
  const [typed, setTyped] = useState(value)
  const sent = useRef(value)
  const send = useDebouncedCallback((text: string) => {
    afterPress(() => {
      if (change.current === null || check(text) !== null) return
      sent.current = text
      change.current(text)
    })
  }, PAUSE_MS)
  // What the click did counts, too; null once it led to another page.
  const change = useRef<typeof onChange | null>(null)
  useEffect(() => {
    change.current = onChange
    return () => {
      change.current = null
    }
  }, [onChange])
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
      error={check(typed) ?? error}
      value={typed}
      onChange={(event) => {
        setTyped(event.currentTarget.value)
        send(event.currentTarget.value.trim())
      }}
      onBlur={() => send.flush()}
    />
  )
}
