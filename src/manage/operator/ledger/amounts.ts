// Amounts as the management API takes them.
import { AppError } from '../../../errors.ts'
import { parseSignedUsd, parseUsd } from '../../../lib/money.ts'

function refuse(name: string): never {
  throw new AppError('INVALID_REQUEST', 'Amounts have at most 4 decimals.', {
    [name]: 'Dollars with at most 4 decimals, such as 125.50.',
  })
}

export const readMicros = (amount: number | string, name: string): number => parseUsd(amount) ?? refuse(name)
export const readSignedMicros = (amount: number, name: string): number => parseSignedUsd(amount) ?? refuse(name)
