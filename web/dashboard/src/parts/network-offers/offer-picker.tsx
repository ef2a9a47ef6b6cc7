// Offers, chosen by name or ID: the server finds them while one types, there may be many.
import { MultiSelect, type MultiSelectProps, Pill, Select, type SelectProps } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { type ClipboardEvent, useRef, useState } from 'react'
import { formatNoun } from '../../lib/format.ts'
import { useGet } from '../../lib/queries.ts'

const PAUSE_MS = 200
const SHOWN = 20
const MOST_PILLS = 100
const NOTHING_FOUND = 'No offer matches'

type Offer = { offer_id: number; name: string }

/** What the server finds for the text, after what is chosen already. Names that were seen are remembered. */
function useOffers(typed: string, chosen: readonly number[], known: readonly Offer[]) {
  const seen = useRef(new Map<number, string>())
  const [search] = useDebouncedValue(typed, PAUSE_MS)
  const label = (id: number) => `${seen.current.get(id) ?? 'Offer'} (${id})`
  const wanted = chosen.map(label).includes(search) ? '' : search.trim()
  const found = useGet('/offers', { query: { search: wanted, limit: SHOWN } })
  const offers = found.data?.offers ?? []
  for (const { offer_id, name } of [...known, ...offers]) seen.current.set(offer_id, name)
  const ids = new Set([...chosen, ...offers.map(({ offer_id }) => offer_id)])
  return {
    data: [...ids].map((id) => ({ value: String(id), label: label(id) })),
    nothingFoundMessage:
      typed === '' ? undefined : found.isFetching || search !== typed ? 'Searching …' : NOTHING_FOUND,
    filter: ({ options }: { options: unknown[] }) => options as never, // the server has filtered them
  }
}

type OffersPickerProps = Omit<MultiSelectProps, 'data' | 'value' | 'onChange'> & {
  value: number[]
  onChange: (offerIds: number[]) => void
  /** Those whose names are known from the beginning. */
  known: readonly Offer[]
  description: string
}

export function OffersPicker({ value, onChange, known, error, description, ...props }: OffersPickerProps) {
  const [typed, setTyped] = useState('')
  const [isFocused, setFocused] = useState(false)
  const hasFocus = useRef(false)
  const note = (focused: boolean) => {
    hasFocus.current = focused
    setFocused(focused)
  }
  const offers = useOffers(typed, value, known)
  const take = (event: ClipboardEvent) => {
    const ids = readIds(event.clipboardData.getData('text'))
    if (ids === null) return
    event.preventDefault()
    onChange([...new Set([...value, ...ids])])
  }
  return (
    <MultiSelect
      {...props}
      {...offers}
      {...latestPills(value)}
      description={
        value.length > MOST_PILLS
          ? `${formatNoun(value.length, 'offer')}, of which the last ${MOST_PILLS} are shown. ${description}`
          : description
      }
      searchable
      clearable
      hidePickedOptions
      value={value.map(String)}
      onChange={(ids) => onChange(ids.map(Number))}
      error={error ?? (isFocused || typed.trim() === '' ? null : leftOver(typed.trim(), offers.nothingFoundMessage))}
      searchValue={typed}
      // What was typed and not chosen stays to be seen: the input would empty itself on blur.
      onSearchChange={(text) => {
        if (hasFocus.current) setTyped(text)
      }}
      onClear={() => setTyped('')}
      onFocus={() => note(true)}
      onBlur={() => note(false)}
      onPaste={take}
    />
  )
}

/** Thousands of pills would fill the page. The last ones are shown: Backspace removes the last. */
function latestPills(value: readonly number[]): Pick<MultiSelectProps, 'renderPill'> {
  if (value.length <= MOST_PILLS) return {}
  const shown = new Set(value.slice(-MOST_PILLS).map(String))
  return {
    renderPill: ({ option, value: id = '', onRemove, disabled }) =>
      shown.has(id) && (
        <Pill withRemoveButton onRemove={() => onRemove?.()} disabled={disabled === true}>
          {option.label}
        </Pill>
      ),
  }
}

const leftOver = (typed: string, nothingFound: string | undefined) =>
  nothingFound === NOTHING_FOUND
    ? `No offer matches “${typed}”.`
    : `Choose an offer from the list, or clear “${typed}”.`

/** A pasted list of IDs, or null: then it is text to search for. */
function readIds(text: string): number[] | null {
  const words = text.split(/[\s,;]+/).filter((word) => word !== '')
  return words.length > 1 && words.every((word) => /^[1-9]\d{0,14}$/.test(word)) ? words.map(Number) : null
}

type OfferPickerProps = Omit<SelectProps, 'data' | 'value' | 'onChange'> & {
  /** The ID, or empty. */
  value?: string
  onChange: (offerId: string) => void
}

export function OfferPicker({ value = '', onChange, ...props }: OfferPickerProps) {
  const [typed, setTyped] = useState('')
  const chosen = useGet(value === '' ? null : `/offers/${encodeURIComponent(value)}`)
  const offers = useOffers(typed, value === '' ? [] : [Number(value)], chosen.data === undefined ? [] : [chosen.data])
  return (
    <Select
      {...props}
      {...offers}
      searchable
      clearable
      value={value === '' ? null : value}
      onChange={(id) => onChange(id ?? '')}
      searchValue={typed}
      onSearchChange={setTyped}
    />
  )
}
