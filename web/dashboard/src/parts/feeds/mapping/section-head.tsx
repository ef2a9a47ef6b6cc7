// The head of a section of a mapping's form.
import { Accordion, Badge, Group, Text } from '@mantine/core'
import { useMappingForm } from './form-context.tsx'
import { isIn, type Section } from './open-sections.ts'
import { isJson } from './sources.ts'

/** What it is called, what in it is filled in, and how much is wrong. */
export function SectionHead({ section }: { section: Section }) {
  const { mapping, wrong } = useMappingForm()
  const problems = wrong.filter((place) => isIn(section, place)).length
  const filled = Object.entries(section.parts).flatMap(([name, label]) => {
    const value = mapping[name]
    if (!isFilled(value)) return []
    return Array.isArray(value) ? `${label} (${value.length})` : label
  })
  return (
    <Accordion.Control>
      <Group gap="xs" justify="space-between" wrap="nowrap">
        <div style={{ minWidth: 0 }}>
          <Text fw={500}>{section.title}</Text>
          <Text size="xs" c="dimmed" lineClamp={1}>
            {filled.join(', ') || 'Nothing set'}
          </Text>
        </div>
        {problems > 0 && (
          <Badge color="red" variant="light" style={{ flex: 'none' }}>
            {problems === 1 ? '1 problem' : `${problems} problems`}
          </Badge>
        )}
      </Group>
    </Accordion.Control>
  )
} // prettier-ignore

const isFilled = (value: unknown) => value !== undefined && value !== '' && (!isJson(value) || Object.keys(value).length > 0) // prettier-ignore
