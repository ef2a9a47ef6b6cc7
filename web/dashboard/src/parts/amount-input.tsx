import { TextInput, type TextInputProps } from '@mantine/core'

/** US dollars as typed: lib/amounts.ts reads them. An input for numbers would silently take 1,50 for 150. */
export const AmountInput = (props: TextInputProps) => (
  <TextInput leftSection="$" inputMode="decimal" autoComplete="off" {...props} />
)

/** A number as typed: checkWhole says what is wrong with it. An input for numbers drops letters and changes the rest. */
export const WholeInput = (props: TextInputProps) => <TextInput inputMode="numeric" autoComplete="off" {...props} />
