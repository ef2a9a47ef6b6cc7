import { Alert, ColorInput, Fieldset, List, SimpleGrid } from '@mantine/core'
import type { GetInputPropsReturnType } from '@mantine/form'
import { contrastProblems, type WallSettings } from './data.ts'

const COLORS = [
  ['accent', 'Accent'],
  ['background', 'Background'],
  ['card', 'Cards'],
  ['text', 'Text'],
] as const

type PaletteProps = {
  name: 'light' | 'dark'
  label: string
  form: { values: Pick<WallSettings, 'light' | 'dark'>; getInputProps(path: string): GetInputPropsReturnType }
  isReader: boolean
}

/** Four colors; those that are hard to read together are named while they are chosen. */
export function Palette({ name, label, form, isReader }: PaletteProps) {
  const problems = contrastProblems(form.values[name])
  return (
    <Fieldset legend={label}>
      <SimpleGrid cols={2}>
        {COLORS.map(([color, title]) => (
          <ColorInput
            key={color}
            label={title}
            format="hex"
            disabled={isReader}
            eyeDropperButtonProps={{ 'aria-label': 'Pick a color from the screen' }}
            {...form.getInputProps(`${name}.${color}`)}
          />
        ))}
      </SimpleGrid>
      {problems.length > 0 && (
        <Alert color="yellow" title="Hard to read" mt="sm" role="status">
          <List size="sm">
            {problems.map((problem) => (
              <List.Item key={problem}>{problem}</List.Item>
            ))}
          </List>
        </Alert>
      )}
    </Fieldset>
  )
}
