// A text with macros, such as the URL of postbacks, with an offer of macros as one types.
import { Combobox, Group, Text, Textarea, useCombobox } from '@mantine/core'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Words } from './words.tsx'

export type Macro = { name: string; description: string; example: string }

type TemplateInputProps = {
  /** The name of the field. */
  path: string
  label: string
  description: string
  placeholder: string
  value: string
  onChange: (value: string) => void
  macros: Macro[]
  error?: ReactNode
}

/** What was typed of a macro that the caret stands in, without its brace; null where it stands in none. */
export function partialAt(text: string, caret: number): string | null {
  return /\{(\w*)$/.exec(text.slice(0, caret))?.[1] ?? null
}

export function TemplateInput({ path, value, onChange, macros, error, ...texts }: TemplateInputProps) {
  const input = useRef<HTMLTextAreaElement>(null)
  const [caret, setCaret] = useState(0)
  const combobox = useCombobox({ onDropdownClose: () => combobox.resetSelectedOption() })
  const partial = partialAt(value, caret)
  const offered = partial === null ? [] : offer(macros, partial)
  const isOffering = combobox.dropdownOpened && offered.length > 0
  const { selectFirstOption } = combobox
  useEffect(() => {
    if (isOffering) selectFirstOption()
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- only as one types on
  }, [isOffering, partial])

  const insert = (name: string) => {
    const start = caret - (partial ?? '').length - 1
    const rest = value.slice(caret)
    const before = `${value.slice(0, start)}{${name}}`
    onChange(before + (rest.startsWith('}') ? rest.slice(1) : rest))
    combobox.closeDropdown()
    setCaret(before.length)
    requestAnimationFrame(() => {
      input.current?.focus()
      input.current?.setSelectionRange(before.length, before.length)
    })
  }

  return (
    <Combobox store={combobox} onOptionSubmit={insert} withinPortal={false} width="target" position="bottom-start">
      <Combobox.Target withKeyboardNavigation={isOffering}>
        <Textarea
          ref={input}
          {...texts}
          data-path={path}
          required
          autosize
          minRows={path === 'url' ? 2 : 1}
          spellCheck={false}
          autoCapitalize="off"
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', overflowWrap: 'anywhere' } }}
          value={value}
          error={error}
          onChange={(event) => {
            onChange(event.currentTarget.value)
            setCaret(event.currentTarget.selectionStart)
            combobox.openDropdown()
          }}
          onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
          // It has one line.
          onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
          onBlur={() => combobox.closeDropdown()}
        />
      </Combobox.Target>
      <Combobox.Dropdown hidden={offered.length === 0}>
        <Combobox.Options mah={260} style={{ overflowY: 'auto' }} aria-label="Macros">
          {offered.map(({ name, description }) => (
            <Combobox.Option key={name} value={name}>
              <Group gap="xs" wrap="wrap">
                <Text span size="sm" ff="monospace" fw={600}>
                  {`{${name}}`}
                </Text>
                <Text span size="sm">
                  <Words text={description} />
                </Text>
              </Group>
            </Combobox.Option>
          ))}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  )
}

/** Those that begin like it, then those that have it somewhere. */
function offer(macros: Macro[], partial: string): Macro[] {
  const typed = partial.toLowerCase()
  const beginning = macros.filter(({ name }) => name.startsWith(typed))
  return [...beginning, ...macros.filter(({ name }) => !name.startsWith(typed) && name.includes(typed))]
}
