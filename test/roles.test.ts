// docs/roles.md shows the role table as the operations declare it. `UPDATE_DOCS=1 npm test -- test/roles.test.ts` writes it.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Role } from '../src/features/accounts/people.ts'
import { roleName } from '../src/manage/access.ts'
import { readPaths } from './operations.ts'
import { useWorld } from './world.ts'

const world = useWorld('roles')
const PAGE = new URL('../docs/roles.md', import.meta.url)
const HEADING = '## By area\n'

type Described = {
  tags?: string[]
  summary?: string
  'x-access'?: string
  'x-read'?: boolean
  'x-roles'?: Role[]
  'x-token-scopes'?: string[]
  'x-recent-proof'?: true
}

/** Operations of one area that the same people may use in the same way are one row. */
function rowOf(operation: Described): string {
  const roles = operation['x-roles']?.map(roleName).join(', ') ?? ''
  const kind = operation['x-recent-proof'] ? 'change, with fresh proof' : operation['x-read'] ? 'read' : 'change'
  const scopes = operation['x-token-scopes']?.map((scope) => `\`${scope}\``).join(' or ') ?? '–'
  return `| ${operation.tags?.[0]} | ${kind} | ${roles} | ${scopes} |`
}

test('the page of roles has every area, with who may do what', async () => {
  const paths = readPaths(world) as Record<string, Record<string, Described>>
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    path.startsWith('/manage/v1') ? Object.values(methods) : [],
  )
  const rows = operations.filter((one) => one['x-roles'] !== undefined).map(rowOf)
  const sensitive = operations.filter((one) => one['x-recent-proof']).map(({ summary }) => `- ${summary}`)
  const expected = [
    '| area | may | roles | token scope |\n|---|---|---|---|',
    ...[...new Set(rows)].toSorted(),
    '\n## With fresh proof\n',
    ...[...new Set(sensitive)].toSorted(),
    '',
  ].join('\n')
  const page = readFileSync(PAGE, 'utf8')
  const whole = `${page.slice(0, page.indexOf(HEADING) + HEADING.length)}\n${expected}`
  if (process.env['UPDATE_DOCS'] !== undefined) writeFileSync(PAGE, whole)
  else assert.equal(page, whole, 'docs/roles.md is stale: UPDATE_DOCS=1 npm test -- test/roles.test.ts')
})
