import { Command } from 'commander'
import { OperatorError } from '../errors.ts'
import { resealCallSecrets } from '../features/accounts/call-signature.ts'
import { countOldHashes, retireOldKeys } from '../features/accounts/secret-keys.ts'
import { resealSigningSecrets } from '../features/apps/signing-secrets.ts'
import { resealCredentials } from '../features/feeds/feeds.ts'
import { resealHeaders, resealReceiverSecrets } from '../features/postbacks/sealed-settings.ts'
import { type Resealed, splitKeys } from '../lib/keys.ts'
import { resealSecondFactors } from '../features/accounts/session-keys.ts'
import { confirm, type ConfirmOptions, yesOption } from './confirm.ts'
import { withRecord } from './context.ts'
import { type OutputOptions, show } from './output.ts'

type RotateOptions = OutputOptions & ConfirmOptions & { retire?: boolean }

export const secretKeyCommand = () =>
  new Command('secret-key').addCommand(
    new Command('rotate')
      .description('re-encrypt everything that uses SECRET_KEY_OLD and report what still needs it')
      .option('--retire', 'drop what still needs the old key: those secrets and tokens stop working')
      .addOption(yesOption())
      .action(rotate),
  )

async function rotate(options: RotateOptions): Promise<void> {
  if (options.retire === true)
    await confirm('Secrets and tokens that still need SECRET_KEY_OLD stop working, permanently.', options)
  const result = await withRecord(async ({ database: { db }, secretKey }) => {
    if (splitKeys(secretKey).length === 1)
      throw new OperatorError(
        'Set SECRET_KEY to the new key and SECRET_KEY_OLD to the old one, here and on every node, and restart the nodes. ' +
          'Then run this command again.',
      )
    const now = new Date()
    const encrypted = {
      signing_secrets: await resealSigningSecrets(db, secretKey),
      postback_headers: await resealHeaders(db, secretKey),
      receiver_secrets: await resealReceiverSecrets(db, secretKey),
      callback_secrets: await resealCallSecrets(db, secretKey),
      second_factors: await resealSecondFactors(db, secretKey),
      feed_credentials: await resealCredentials(db, secretKey),
    }
    const left = await countOldHashes(db, secretKey, now)
    const isDone = options.retire === true || Object.values(left).every((count) => count === 0)
    if (isDone) await retireOldKeys(db, secretKey, now)
    return { encrypted, left, retired: isDone }
  })
  show(options, result, () => describe(result))
}

type Result = {
  encrypted: Record<string, Resealed>
  left: Record<string, number>
  retired: boolean
}

const nameOf = (key: string) => key.replaceAll('_', ' ').replace('api ', 'API ')

function describe({ encrypted, left, retired }: Result): string {
  const lines = Object.entries(encrypted).map(([name, { resealed, unreadable }]) => {
    const lost = unreadable === 0 ? '' : `; ${unreadable} cannot be decrypted with either key: create them again`
    return `${nameOf(name).padEnd(18)}  ${resealed} re-encrypted${lost}`
  })
  const waiting = Object.entries(left).filter(([, count]) => count > 0)
  for (const [name, count] of waiting)
    lines.push(`${nameOf(name).padEnd(18)}  ${count} ${retired ? 'dropped' : 'not used since SECRET_KEY was set'}`)
  if (retired)
    return [...lines, '', 'SECRET_KEY_OLD is no longer needed: remove it on every node and restart the nodes.'].join(
      '\n',
    )
  return [
    ...lines,
    '',
    'Only their hashes are stored, so they cannot be converted here. Each is converted when it is next used, an invitation',
    'when it is accepted. Keep SECRET_KEY_OLD and run this again later, replace the unused ones, or add --retire.',
  ].join('\n')
}
