import { TextInput, type TextInputProps } from '@mantine/core'

/** US dollars as typed: lib/amounts.ts reads them. An input for numbers would silently take 1,50 for 150. */
export const AmountInput = (props: TextInputProps) => (
  <TextInput leftSection="$" inputMode="decimal" autoComplete="off" {...props} />
)
