import type { Actor } from '../src/features/accounts/audit.ts'

/** Whom the audit log names for what tests set up. */
export const TESTER: Actor = { id: null, email: 'tester', ip: null }
