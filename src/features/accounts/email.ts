import { OperatorError } from '../../errors.ts'

/** Null: no address is given. */
export function checkEmail(email: string | null): void {
  if (email !== null && (email.length > 254 || !/^[^\s@<>,;"]+@[^\s@<>,;"]+$/.test(email)))
    throw new OperatorError(`"${email}" is not an email address.`, 'email')
}
