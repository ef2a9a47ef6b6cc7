import { ActionIcon, Button, Checkbox, Fieldset, Group, Select, Stack, TagsInput, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { IconArrowUp, IconPlus, IconTrash } from '@tabler/icons-react'
import { choicesOf } from '../../lib/words.ts'
import { newQuestion, QUESTION_KINDS, type SettingsValues } from './values.ts'

const MAX_QUESTIONS = 20

type Props = { form: UseFormReturnType<SettingsValues> }

/** The operator's own questions. */
export function QuestionFields({ form }: Props) {
  const { questions } = form.values
  return (
    <Stack gap="sm">
      {questions.map(({ question_id }, i) => (
        <Question key={question_id} form={form} place={i} />
      ))}
      <Group>
        <Button
          variant="default"
          leftSection={<IconPlus size={16} />}
          disabled={questions.length >= MAX_QUESTIONS}
          onClick={() => form.insertListItem('questions', newQuestion())}
        >
          Add question
        </Button>
      </Group>
    </Stack>
  )
}

function Question({ form, place }: Props & { place: number }) {
  const path = `questions.${place}`
  return (
    <Fieldset legend={`Question ${place + 1}`}>
      <Stack gap="sm">
        <TextInput label="Label" required maxLength={200} {...form.getInputProps(`${path}.label`)} />
        <Select
          label="Kind"
          allowDeselect={false}
          data={choicesOf(QUESTION_KINDS)}
          {...form.getInputProps(`${path}.kind`)}
        />
        {form.values.questions[place]?.kind === 'choice' && (
          <TagsInput
            label="Choices"
            description="Two or more. Press Enter after each."
            acceptValueOnBlur
            maxTags={50}
            {...form.getInputProps(`${path}.choices`)}
          />
        )}
        <Group justify="space-between">
          <Checkbox label="Required" {...form.getInputProps(`${path}.is_required`, { type: 'checkbox' })} />
          <Group gap={4}>
            {place > 0 && (
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={`Move question ${place + 1} up`}
                onClick={() => form.reorderListItem('questions', { from: place, to: place - 1 })}
              >
                <IconArrowUp size={16} />
              </ActionIcon>
            )}
            <ActionIcon
              variant="subtle"
              color="red"
              aria-label={`Remove question ${place + 1}`}
              onClick={() => form.removeListItem('questions', place)}
            >
              <IconTrash size={16} />
            </ActionIcon>
          </Group>
        </Group>
      </Stack>
    </Fieldset>
  )
}
