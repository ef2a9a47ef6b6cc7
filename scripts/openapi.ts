// Writes the OpenAPI description to a file, or prints it: node scripts/openapi.ts openapi.json
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { description } from './description.ts'

const text = JSON.stringify(description)
const [, , file] = process.argv
if (file === undefined) console.log(text)
else {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}
