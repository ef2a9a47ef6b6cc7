// What all fields of a mapping's form share: the mapping, the answer, what each field gives, and the one being filled.
import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef, useState } from 'react'
import type { Schemas } from '../../../lib/api-types.ts'
import { findPaths, type Found, type Lists } from './answer-paths.ts'
import { type SectionName, useOpenSections } from './open-sections.ts'
import { isJson, type Json, type Place, placeText, setAt } from './sources.ts'

type Tried = Schemas['TriedMapping']
export type FieldValue = Tried['fields'][number]['offers'][number]

/** The input that a click in the answer fills. */
type Target = { id: string; label: string; lists: Lists; isList: boolean }

type MappingForm = {
  mapping: Json
  change: (place: Place, value: unknown) => void
  answer: unknown
  disabled: boolean
  target: Target
  aimAt: (target: Target) => void
  /** For the input that is the target. */
  listen: (insert: (path: string) => void) => void
  insert: (path: string) => void
  pathsIn: (lists: Lists, isList: boolean) => Found[]
  valuesOf: (place: Place) => FieldValue[]
  /** `isWhole`: also of everything below it, but for the part that has a field of its own. */
  problemOf: (place: Place, isWhole?: boolean, except?: string) => string | null
  /** The places of all problems. */
  wrong: readonly string[]
  /** Its sections that are open. */
  open: SectionName[]
  setOpen: (open: SectionName[]) => void
}

const Context = createContext<MappingForm | null>(null)

export function useMappingForm(): MappingForm {
  const form = useContext(Context)
  if (form === null) throw new Error('This field stands outside of the form of a mapping.')
  return form
}

const FIRST: Target = { id: 'offers', label: 'List of offers', lists: [], isList: true }

type ProviderProps = {
  mapping: Json
  onChange: (mapping: Json) => void
  answer: unknown
  tried: Tried | undefined
  /** The places for which the form was refused when it was sent. */
  errors: readonly string[]
  disabled: boolean
  children: ReactNode
}

export function MappingFormProvider({ mapping, onChange, answer, tried, errors, disabled, children }: ProviderProps) {
  const [target, aimAt] = useState(FIRST)
  const listener = useRef<((path: string) => void) | null>(null)
  const latest = useRef(mapping)
  useEffect(() => {
    latest.current = mapping
  })
  const wrong = tried?.problems.map(({ place }) => place) ?? []
  const { open, setOpen } = useOpenSections(wrong, errors)
  const known = useMemo(() => ({ answer, paths: new Map<string, Found[]>() }), [answer])
  const form: MappingForm = {
    mapping,
    wrong,
    open,
    setOpen,
    answer,
    disabled,
    target,
    aimAt,
    change(place, value) {
      latest.current = withoutEmpty(setAt(latest.current, place, value) as Json) // there may be two before the page has followed
      onChange(latest.current)
    },
    listen: (insert) => {
      listener.current = insert
    },
    insert: (path) => listener.current?.(path),
    pathsIn(lists, isList) {
      const key = JSON.stringify([lists, isList])
      const found = known.paths.get(key) ?? findPaths(answer, lists, isList)
      known.paths.set(key, found)
      return found
    },
    valuesOf: (place) => tried?.fields.find((one) => one.place === placeText(place))?.offers ?? [],
    problemOf(place, isWhole = false, except = '') {
      const name = placeText(place)
      const isElsewhere = (one: string) => except !== '' && one.startsWith(`${name}.${except}`)
      const isBelow = (one: string) => (one.startsWith(`${name}.`) || one.startsWith(`${name}[`)) && !isElsewhere(one)
      const found = tried?.problems.find((one) => one.place === name || (isWhole && isBelow(one.place)))
      return found === undefined ? null : inShort(found.place, found.message)
    },
  }
  return <Context.Provider value={form}>{children}</Context.Provider>
}

/** Parts of which nothing is left. */
const withoutEmpty = (mapping: Json): Json =>
  Object.fromEntries(Object.entries(mapping).filter(([name, value]) => !['countries', 'by_country'].includes(name) || !isJson(value) || Object.keys(value).length > 0)) // prettier-ignore

/** Beside its field a problem needs no name. */
export function inShort(place: string, message: string): string {
  const text = message.startsWith(`${place} `) ? message.slice(place.length + 1) : message
  return text === 'is missing.' ? 'Required.' : text.charAt(0).toUpperCase() + text.slice(1)
}
