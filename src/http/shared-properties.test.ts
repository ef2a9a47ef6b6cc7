import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useWorld } from '../../test/world.ts'
import { nameSchemas, type Node, type Schemas } from './named-schemas.ts'
import { shareProperties } from './shared-properties.ts'

const world = useWorld('shared_properties')
const named = () => nameSchemas(world.app.server.swagger().paths).schemas

type Shape = Node & { $ref?: string; allOf?: Shape[]; properties?: Record<string, Shape>; required?: string[] }

/** With every reference and every joined part written out. */
function writeOut(schema: unknown, all: Schemas): unknown {
  if (Array.isArray(schema)) return schema.map((one) => writeOut(one, all))
  if (typeof schema !== 'object' || schema === null) return schema
  const { $ref, allOf, unevaluatedProperties, ...own } = schema as Shape
  if ($ref !== undefined) return writeOut(all[$ref.split('/').at(-1) ?? ''], all)
  const rest = Object.fromEntries(Object.entries(own).map(([key, part]) => [key, writeOut(part, all)]))
  if (allOf === undefined) return rest
  const parts = allOf.map((part) => writeOut(part, all) as Shape)
  return {
    type: 'object',
    required: parts.flatMap(({ required = [] }) => required),
    properties: Object.assign({}, ...parts.map(({ properties }) => properties)) as Node,
    ...(unevaluatedProperties === undefined ? {} : { additionalProperties: unevaluatedProperties }),
    ...rest,
  }
}

/** The same for all objects that are the same, whatever the order of what they require. */
const sorted = (schema: unknown): unknown =>
  JSON.parse(JSON.stringify(schema), (key, value: unknown) => {
    if (key !== 'required' || !Array.isArray(value)) return value
    return value.length === 0 ? undefined : value.toSorted()
  })

test('what schemas have in common is written once, and nothing of them is lost', () => {
  const before = named()
  const after = shareProperties(before)
  for (const name of Object.keys(before))
    assert.deepEqual(sorted(writeOut(after[name], after)), sorted(writeOut(before[name], before)), name)
  const size = (schemas: Schemas) => JSON.stringify(schemas).length
  assert.ok(size(after) < 0.85 * size(before), `${size(after)} of ${size(before)} bytes`)
  const input = after['NewOffer'] as Shape
  assert.deepEqual(input.allOf?.[0], { $ref: '#/components/schemas/OfferInput' })
  assert.equal(input['unevaluatedProperties'], false, 'unknown fields are still refused')
})

test('every named common part is used by two or more', () => {
  const before = named()
  const after = shareProperties(before)
  const text = JSON.stringify(after)
  for (const name of Object.keys(after).filter((one) => !(one in before)))
    assert.ok(text.split(`"#/components/schemas/${name}"`).length > 2, name)
})
