// The settings of sign-up: one set for the network, replaced as a whole.
import { sql } from 'kysely'
import { type Db, inTransaction, type Trx } from '../../../db/open.ts'
import { AppError, InvalidInput, type Problem } from '../../../errors.ts'
import { versionOf } from '../../../lib/version-of.ts'
import { type Actor, recordAudit } from '../audit.ts'
import { isWebUrl } from './answers.ts'
import { DEFAULTS, type NewSignUpSettings, type ServiceTerms, type SignUpSettings } from './schema.ts'
import { hashTerms } from './terms-hash.ts'

export async function readSignUp(db: Db): Promise<SignUpSettings> {
  const { sign_up } = await db.selectFrom('network_settings').select('sign_up').executeTakeFirstOrThrow()
  return { ...DEFAULTS, ...(sign_up as Partial<SignUpSettings>) }
}

/** As they stay until this transaction ends. */
export async function holdSignUp(trx: Trx): Promise<SignUpSettings> {
  await trx.selectFrom('network_settings').select('only_row').forShare().execute()
  return readSignUp(trx)
}

/** As they are shown to be changed. */
export async function readVersionedSignUp(db: Db) {
  const settings = await readSignUp(db)
  return { ...settings, version: versionOf(settings) }
}

export async function setSignUp(db: Db, by: Actor, given: NewSignUpSettings, hasMail: boolean): Promise<void> {
  const { version: seen, ...wanted } = given
  const after = { ...wanted, blocked_domains: wanted.blocked_domains.map((domain) => domain.trim().toLowerCase()) }
  const problems = findProblems(after)
  if (problems.length > 0) throw new InvalidInput(problems)
  if (after.is_open && !hasMail)
    throw new AppError(
      'CONFLICT',
      'Sign-up verifies email addresses, and this network has no mail server. Set SMTP_URL first.',
    )
  await inTransaction(db, async (trx) => {
    await trx.selectFrom('network_settings').select('only_row').forNoKeyUpdate().execute()
    const before = await readSignUp(trx)
    if (seen !== undefined && seen !== versionOf(before))
      throw new AppError('CONFLICT', 'Someone else changed these settings. Review the current ones, then save again.')
    await checkVersion(trx, before.terms, after.terms)
    await trx
      .updateTable('network_settings')
      .set({ sign_up: JSON.stringify(after) })
      .execute()
    await recordAudit(trx, by, { action: 'sign_up.set', subject: 'network', details: changesOf(before, after) })
  })
}

/** Terms as a whole: what they said is looked up here. */
const changesOf = (before: SignUpSettings, after: SignUpSettings) =>
  Object.fromEntries(
    Object.keys(DEFAULTS)
      .map((name) => name as keyof SignUpSettings)
      .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
      .map((name) => [name, { before: before[name], after: after[name] }]),
  )

function findProblems({ terms, questions, blocked_domains: domains }: SignUpSettings): Problem[] {
  const problems: Problem[] = []
  const add = (field: string, message: string) => problems.push({ field, message })
  if (terms !== null && (terms.url === null) === (terms.text === null || terms.text.trim() === ''))
    add('terms', 'Provide the terms either as a URL or as text.')
  if (terms?.version.trim() === '') add('terms.version', 'Enter a version, such as a date.')
  if (terms?.url != null && !isWebUrl(terms.url)) add('terms.url', `"${terms.url}" is not a URL.`)
  const [ids, labels] = [new Set<string>(), new Set<string>()]
  questions.forEach(({ question_id, label, kind, choices }, i) => {
    if (ids.has(question_id)) add(`questions.${i}.question_id`, 'Another question has this ID.')
    if (labels.has(label.trim())) add(`questions.${i}.label`, 'Another question has the same label.')
    if (label.trim() === '') add(`questions.${i}.label`, 'A question needs a label.')
    const isTooFew = kind === 'choice' && new Set(choices).size < 2
    if (isTooFew || new Set(choices).size < choices.length)
      add(`questions.${i}.choices`, 'A choice needs two or more different choices.')
    ids.add(question_id)
    labels.add(label.trim())
  })
  const wrong = domains.find((domain) => !/^[^\s@.]+(\.[^\s@.]+)+$/.test(domain))
  if (wrong !== undefined) add('blocked_domains', `"${wrong}" is not a domain such as example.com.`)
  return problems
}

/** What was accepted as a version stays what it was, whatever the terms were in between. */
async function checkVersion(trx: Trx, before: ServiceTerms | null, after: ServiceTerms | null): Promise<void> {
  if (after === null) return
  const hash = hashTerms(after)
  if (before?.version === after.version && hashTerms(before) === hash) return
  // One statement: an application whose link is opened meanwhile is in one of the two.
  const { rows } = await sql`
    SELECT FROM accepted_service_terms WHERE version = ${after.version} AND terms_hash IS DISTINCT FROM ${hash}
    UNION ALL
    SELECT FROM applications
    WHERE status = 'unverified' AND terms_version = ${after.version} AND terms_hash IS DISTINCT FROM ${hash}
    LIMIT 1`.execute(trx)
  if (rows.length > 0)
    throw new InvalidInput([
      {
        field: 'terms.version',
        message: `Publishers have accepted different terms as version ${after.version}. Give the new terms a new version.`,
      },
    ])
}
