import { type RawBuilder, sql } from 'kysely'
import { OperatorError } from '../../errors.ts'

/** Null: no address is given. */
export function checkEmail(email: string | null): void {
  if (email !== null && (email.length > 254 || !/^[^\s@<>,;"]+@[^\s@<>,;"]+$/.test(email)))
    throw new OperatorError(`"${email}" is not an email address.`, 'email')
}

/** Whatever follows a + in a mailbox's name is the same mailbox. */
export const mailboxOf = (address: RawBuilder<unknown>) => sql`lower(regexp_replace(${address}, '[+][^@]*@', '@'))`
