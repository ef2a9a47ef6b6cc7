// What objects of the OpenAPI description have in common is written once: an object that has all properties of a named
// one refers to it, and adds the rest.
import { isNode, mapParts, type Node, refTo, type Schemas } from './named-schemas.ts'

/** Names for what these have in common, and no schema is by itself. */
const COMMON: Record<string, [string, string]> = {
  AdvertiserGoalInput: ['GoalInput', 'ProposedGoalInput'],
  AdvertiserGoalRecord: ['AdvertiserGoal', 'ProposedGoal'],
  AdvertiserOfferInput: ['NewOffer', 'NewOfferProposal'],
  AdvertiserOfferRecord: ['AdvertiserOffer', 'ProposedOffer'],
  FeedOptions: ['FeedSettings', 'GivenFeedSettings'],
  GoalRecord: ['NetworkGoal', 'ProposedGoal'],
  LinkLockerOptions: ['LinkLockerInput', 'LinkLockerSettings'],
  LockerOptions: ['LockerInput', 'LockerSettings'],
  OfferInput: ['NewOffer', 'ChangedOffer'],
  OfferRecord: ['NetworkOffer', 'ProposedOffer'],
  OfferSummary: ['AdvertiserOfferSummary', 'NetworkOfferSummary'],
  PostbackDialectOptions: ['NewPostbackDialect', 'PostbackDialect'],
  PublicOffer: ['AppOffer', 'WallOffer'],
  RewardOptions: ['ChangedRewardSettings', 'RewardSettings'],
  SignUpOptions: ['NewSignUpSettings', 'SignUpSettingsReply'],
}

/** Fewer bytes are not worth a reference, and may be the same by chance. */
const MIN_BYTES = 200

type ObjectSchema = Node & { properties: Schemas; required?: string[] }
/** Each property as text. */
type Properties = Map<string, string>
type Base = { name: string; properties: Properties; required: readonly string[]; bytes: number }

export function shareProperties(named: Schemas): Schemas {
  const all: Schemas = { ...named }
  for (const [name, [one, other]] of Object.entries(COMMON)) {
    if (name in all) throw new Error(`Two schemas are called ${name}.`)
    all[name] = commonOf(objectOf(all, one), objectOf(all, other))
  }
  const bases = Object.entries(all)
    .flatMap(([name, schema]): Base[] => (isOpen(schema) ? [baseOf(name, schema)] : []))
    .filter(({ bytes }) => bytes >= MIN_BYTES)
    .toSorted((a, b) => b.bytes - a.bytes || b.required.length - a.required.length || (a.name < b.name ? -1 : 1))
  const share = (value: unknown, own: string | null): unknown => {
    if (Array.isArray(value)) return value.map((one) => share(one, null))
    if (!isNode(value)) return value
    const shared = mapParts(value, (part) => share(part, null))
    return isObject(value) ? split(shared as ObjectSchema, propertiesOf(value), basesFor(bases, own)) : shared
  }
  return Object.fromEntries(Object.entries(all).map(([name, schema]) => [name, share(schema, name) as Node]))
}

function objectOf(schemas: Schemas, name: string): ObjectSchema {
  const schema = schemas[name]
  if (schema === undefined || !isObject(schema)) throw new Error(`No object is called ${name}.`)
  return schema
}

/** Those that come after it, where it is one of them: so no two of the same size refer to each other. */
const basesFor = (bases: readonly Base[], own: string | null): readonly Base[] => {
  const at = bases.findIndex(({ name }) => name === own)
  return at === -1 ? bases : bases.slice(at + 1)
}

/** `object` as what it has of the bases, and the rest. */
function split(object: ObjectSchema, rest: Properties, bases: readonly Base[]): Node {
  const needed = new Set(object.required)
  const parts: Node[] = []
  for (const { name, properties, required } of bases) {
    if (![...properties].every(([key, text]) => rest.get(key) === text)) continue
    if (!required.every((key) => object.required?.includes(key))) continue
    for (const key of properties.keys()) rest.delete(key)
    for (const key of required) needed.delete(key)
    parts.push(refTo('schemas', name))
  }
  if (parts.length === 0) return object
  const { type: _, properties, required: __, additionalProperties, ...more } = object
  if (rest.size + needed.size > 0) parts.push(objectWith(properties, [...rest.keys()], [...needed]))
  if (additionalProperties === false) more['unevaluatedProperties'] = false
  const [first = {}] = parts
  return parts.length === 1 && Object.keys(more).length === 0 ? first : { ...more, allOf: parts }
}

function commonOf(one: ObjectSchema, other: ObjectSchema): ObjectSchema {
  const properties = propertiesOf(other)
  const names = [...propertiesOf(one)].filter(([name, text]) => properties.get(name) === text).map(([name]) => name)
  const isRequired = (name: string) => names.includes(name) && other.required?.includes(name) === true
  return objectWith(one.properties, names, (one.required ?? []).filter(isRequired))
}

const objectWith = (properties: Schemas, names: string[], required: string[]): ObjectSchema => ({
  type: 'object',
  ...(required.length === 0 ? {} : { required }),
  properties: Object.fromEntries(names.map((name) => [name, properties[name] as Node])),
})

const isObject = (schema: Node): schema is ObjectSchema =>
  schema['type'] === 'object' && isNode(schema['properties']) && !isNode(schema['additionalProperties'])

/** Whether others may add to it. */
const isOpen = (schema: Node): schema is ObjectSchema =>
  isObject(schema) &&
  Object.keys(schema).every((key) => ['type', 'properties', 'required', 'description'].includes(key))

const propertiesOf = ({ properties }: ObjectSchema): Properties =>
  new Map(Object.entries(properties).map(([name, schema]) => [name, JSON.stringify(schema)]))

function baseOf(name: string, schema: ObjectSchema): Base {
  const properties = propertiesOf(schema)
  const bytes = [...properties.values()].join('').length
  return { name, properties, required: schema.required ?? [], bytes }
}
