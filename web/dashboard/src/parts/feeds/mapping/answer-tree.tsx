// The answer of a network: a click on a value puts its path into the field that is being filled.
import { ActionIcon, Box, Group, Text, UnstyledButton } from '@mantine/core'
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react'
import { useState } from 'react'
import { isListLike, listAround, pathTo, type Step, stepsOf, textOf } from './answer-paths.ts'
import { useMappingForm } from './form-context.tsx'

const MOST_TEXT = 80

export function AnswerTree() {
  const { answer, target, disabled } = useMappingForm()
  const [said, setSaid] = useState('')
  return (
    <>
      <Text size="sm">
        {disabled ? 'The first offers of the response, shortened.' : <>Click a value to fill <b>{target.label}</b>. To fill another field, select it first.</>}
      </Text>
      <Text size="xs" c="dimmed" role="status" mih="1.4em">
        {said}
      </Text>
      <Box className="answer-tree" role="group" aria-label="Response">
        <Children value={answer} steps={[]} onDone={setSaid} />
      </Box>
    </>
  ) // prettier-ignore
}

type Said = (text: string) => void

function Children({ value, steps, onDone }: { value: unknown; steps: readonly Step[]; onDone: Said }) {
  return (
    <ul>
      {stepsOf(value).map(({ step, value: one }, i) => (
        <Node key={step.key} step={step} value={one} steps={[...steps, step]} isFirst={i === 0} onDone={onDone} />
      ))}
    </ul>
  )
}

type NodeProps = { step: Step; value: unknown; steps: readonly Step[]; isFirst: boolean; onDone: Said }

function Node({ step, value, steps, isFirst, onDone }: NodeProps) {
  const { target, insert, disabled } = useMappingForm()
  const isGroup = typeof value === 'object' && value !== null
  const [isOpen, setOpen] = useState(!step.isEach || isFirst) // offers are alike: the first is enough
  const path = target.isList ? listAround(steps, target.lists, isListLike(value)) : pathFor(steps, target.lists, value)
  const text = isGroup ? sizeOf(value) : textOf(value)
  return (
    <li>
      <Group gap={2} wrap="nowrap" align="flex-start">
        {isGroup ? (
          <ActionIcon
            size={24}
            variant="subtle"
            color="gray"
            aria-expanded={isOpen}
            aria-label={`${isOpen ? 'Hide' : 'Show'} ${step.key}`}
            onClick={() => setOpen(!isOpen)}
          >
            {isOpen ? <IconChevronDown size={14} /> : <IconChevronRight size={14} />}
          </ActionIcon>
        ) : (
          <Box w={24} style={{ flex: 'none' }} />
        )}
        <UnstyledButton
          className="answer-value"
          disabled={disabled || path === null}
          title={path ?? undefined}
          onClick={() => {
            insert(path!)
            onDone(`${target.label}: ${path}`)
          }}
        >
          <span>{step.key}</span> {text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}…` : text}
        </UnstyledButton>
      </Group>
      {isGroup && isOpen && <Children value={value} steps={steps} onDone={onDone} />}
    </li>
  )
}

/** Of a group of texts, all of them; of an object that is used as a list, its names. */
function pathFor(steps: readonly Step[], lists: readonly string[], value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return pathTo(steps, lists)
  const isKey = steps.length > 0 && steps.at(-1)?.isEach === true
  const path = pathTo(steps, lists)
  if (path === null || (isKey && path !== '$key')) return null
  if (path === '$key') return path
  if (Array.isArray(value)) return value.every((one) => typeof one !== 'object') ? `${path}[]` : null
  return isListLike(value) ? `${path}~` : null
}

const sizeOf = (value: object) => (Array.isArray(value) ? `[${value.length}]` : `{${Object.keys(value).length}}`)
