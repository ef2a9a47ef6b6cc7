// An app as the server tells of it.
import type { Schemas } from '../../lib/api-types.ts'

export type AppData = Schemas['App']
export type CredentialData = AppData['credentials'][number]
export type Mode = CredentialData['mode']
export type ChecklistData = Schemas['Checklist']
export type Step = ChecklistData['steps'][number]['step']
export type OverviewData = Schemas['Overview']

/** Every app has both. */
export const keyOf = (app: AppData, mode: Mode) =>
  app.credentials.find((credential) => credential.mode === mode) as CredentialData

/** Whole: with one key that is good it goes on. */
export const isRevoked = (app: AppData) => app.credentials.every(({ revoked_at }) => revoked_at !== null)
