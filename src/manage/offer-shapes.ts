// The shapes of what a request says about an offer, for the operator and for its advertiser.
import { type TOptional, Type } from 'typebox'
import { ACCEPTED } from '../features/offers/field-kinds.ts'
import { type Fields, GOAL_FIELDS } from '../features/offers/fields.ts'

const sentence = (rule: string) => (rule === '' ? '' : `${rule.charAt(0).toUpperCase()}${rule.slice(1)}.`)

/** What a request may give: everything has a default, or is refused where it is read. */
export function acceptedOf<F extends Fields>(
  fields: F,
  goalFields: Fields = GOAL_FIELDS,
): { [N in keyof F]: TOptional } {
  const shapes = Object.entries(fields).map(([name, { input, about = '', rule = '' }]) => {
    const description = `${about} ${sentence(rule)}`.trim()
    const accepted = input === 'goals' ? Type.Array(Type.Object(acceptedOf(goalFields))) : ACCEPTED[input]
    return [name, Type.Optional(Type.Union([accepted, Type.Null()], description === '' ? {} : { description }))]
  })
  return Object.fromEntries(shapes) as { [N in keyof F]: TOptional }
}
