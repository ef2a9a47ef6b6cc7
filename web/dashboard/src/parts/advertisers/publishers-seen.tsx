import { Select } from '@mantine/core'
import { Section } from '../section.tsx'
import { PartForm, type SectionProps, usePart } from './part-form.tsx'

const SEEN = [
  { value: 'nothing', label: 'Nothing' },
  { value: 'id', label: 'Publisher IDs' },
  { value: 'name', label: 'Publisher names' },
]

export function PublisherSection({ advertiser, mayChange }: SectionProps) {
  const part = usePart(advertiser, 'sees_publishers')
  return (
    <Section
      title="Publishers"
      about="How this advertiser’s people see the publishers in their figures and conversions."
    >
      <PartForm part={part} mayChange={mayChange}>
        <Select
          label="Shown to the advertiser"
          data={SEEN}
          allowDeselect={false}
          maw={320}
          disabled={!mayChange}
          value={part.value}
          onChange={(value) => value !== null && part.setValue(value as typeof part.value)}
        />
      </PartForm>
    </Section>
  )
}
