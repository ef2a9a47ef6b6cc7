// An app as the server tells of it.
import type { App, Checklist, Overview } from '../../../../../src/manage/apps/schema.ts'
import type { Reply } from '../../lib/api.ts'

export type AppData = Reply<typeof App>
export type CredentialData = AppData['credentials'][number]
export type Mode = CredentialData['mode']
export type ChecklistData = Reply<typeof Checklist>
export type Step = ChecklistData['steps'][number]['step']
export type OverviewData = Reply<typeof Overview>

/** Every app has both. */
export const keyOf = (app: AppData, mode: Mode) =>
  app.credentials.find((credential) => credential.mode === mode) as CredentialData

/** Whole: with one key that is good it goes on. */
export const isRevoked = (app: AppData) => app.credentials.every(({ revoked_at }) => revoked_at !== null)
