import { chmodSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A new folder that others may enter, so that the database server, which may run as another user, keeps its data in it. */
export function createFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `offerdeck-${name}-`))
  chmodSync(folder, 0o755)
  return folder
}
