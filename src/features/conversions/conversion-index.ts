import type { Conversion } from './conversions.ts'
import { userKey } from './keys.ts'

/** The conversions that a batch may refer to, including the batch's own changes so far. */
export class ConversionIndex {
  readonly #byId = new Map<string, Conversion>()
  /** Ids, first to last. */
  readonly #ofUser = new Map<string, Set<string>>()
  readonly #ofTransaction = new Map<string, Set<string>>()

  constructor(conversions: readonly Conversion[]) {
    const inOrder = conversions.toSorted((a, b) => (a.conversionId < b.conversionId ? -1 : 1))
    for (const conversion of inOrder) this.set(conversion)
  }

  get(conversionId: string): Conversion | undefined {
    return this.#byId.get(conversionId)
  }

  set(conversion: Conversion): void {
    this.#byId.set(conversion.conversionId, conversion)
    add(this.#ofUser, userKey(conversion), conversion.conversionId)
    const { advertiserTransactionId: transactionId } = conversion
    if (transactionId !== null) add(this.#ofTransaction, transactionId, conversion.conversionId)
  }

  ofUser(key: string): Conversion[] {
    return this.#all(this.#ofUser.get(key))
  }

  /**
   * Those of a user that a command with this transaction may be about. Of what repeats, only such are loaded
   * (batch-conversions.ts), and more where another command of the batch needs them: no decision may depend on those.
   */
  about(key: string, transactionId: string | null): Conversion[] {
    return this.ofUser(key).filter((one) => mayBeAbout(one, transactionId))
  }

  /** Conversions that any advertiser has given this transaction ID. */
  ofTransaction(transactionId: string | null): Conversion[] {
    return transactionId === null ? [] : this.#all(this.#ofTransaction.get(transactionId))
  }

  #all(ids: ReadonlySet<string> | undefined): Conversion[] {
    return ids === undefined ? [] : [...ids].map((id) => this.#byId.get(id) as Conversion)
  }
}

function mayBeAbout(one: Conversion, transactionId: string | null): boolean {
  if (!one.isRepeatable || one.barsRedo) return true
  const { publisherTransactionId: publishers, advertiserTransactionId: advertisers } = one
  if (transactionId !== null && (publishers === transactionId || advertisers === transactionId)) return true
  return (one.status === 'pending' || one.status === 'approved') && (publishers === null || advertisers === null)
}

function add(index: Map<string, Set<string>>, key: string, id: string): void {
  const ids = index.get(key)
  if (ids === undefined) index.set(key, new Set([id]))
  else ids.add(id)
}
