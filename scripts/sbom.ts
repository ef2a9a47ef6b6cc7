// npm run sbom: every package that is installed in production, as CycloneDX. `npm sbom --omit dev` leaves out what a
// development dependency needs, too, such as pg: so all are listed, and those for development alone are left out here.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

type Component = { 'bom-ref': string; name: string; properties?: { name: string; value: string }[] }
type Bom = {
  metadata: { component: Component }
  components: Component[]
  dependencies: { ref: string; dependsOn: string[] }[]
}

const { name } = JSON.parse(readFileSync('package.json', 'utf8')) as { name: string }
const listed = execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx'], { encoding: 'utf8', maxBuffer: 100_000_000 })
const bom = JSON.parse(listed) as Bom
const isForDevelopment = ({ properties = [] }: Component) =>
  properties.some((one) => one.name === 'cdx:npm:package:development' && one.value === 'true')

bom.metadata.component.name = name // npm takes the folder's
bom.components = bom.components.filter((component) => !isForDevelopment(component))
const kept = new Set([bom.metadata.component, ...bom.components].map((component) => component['bom-ref']))
bom.dependencies = bom.dependencies
  .filter(({ ref }) => kept.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => kept.has(one)) }))
console.log(JSON.stringify(bom, null, 2))
