import { createHash } from 'node:crypto'

/** Of what a person is shown before changing it: it differs when anything of it does. */
export const versionOf = (shown: unknown): string =>
  createHash('sha256').update(JSON.stringify(shown)).digest('base64url')
