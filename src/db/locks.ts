// Every advisory lock, by what it protects. All processes must agree on the numbers, including processes of another
// version while an upgrade is under way: a number is neither changed nor reused. Functions in the database take some of
// them, too (migrations/).

export const LOCKS = {
  migrations: 0x0ff3_0001,
  /** Held by every API process: see single-writer.ts. */
  serving: 0x0ff3_0002,
  popularity: 0x0ff3_0003,
  /** Held, shared, by every transaction that counts towards caps: see offers/caps.ts. */
  caps: 0x0ff3_0004,
  partitions: 0x0ff3_0005,
  ledgerRollup: 0x0ff3_0006,
  clickRetention: 0x0ff3_0007,
  eventFeed: 0x0ff3_0008,
  statsRollup: 0x0ff3_0009,
  appRole: 0x0ff3_0010,
  /** See reports/rankings.ts. */
  rankings: 0x0ff3_0022,
  /** See offers/products. */
  products: 0x0ff3_0024,
  /** See ledger/payments.ts. */
  payments: 0x0ff3_0018,
  /** See ledger/budgets. */
  budgets: 0x0ff3_0026,
  /** See users/rollup.ts. */
  userBalances: 0x0ff3_0025,
  /** See users/erase.ts. */
  erasures: 0x0ff3_0027,
  /** See accounts/sign-up/limits.ts. */
  signUps: 0x0ff3_0023,
  /** See accounts/invitation-limits.ts. */
  invitations: 0x0ff3_0030,
  /** See exports/exporter.ts. */
  exports: 0x0ff3_0028,
} as const

/** Locks on one of many things: the number, then a hash of the thing. PostgreSQL keeps them apart from those above. */
export const LOCK_CLASSES = {
  /** Users, transactions, idempotency keys and IP addresses: see conversions/lock-batch.ts. */
  commands: 0x0ff3,
  /** A publisher or an advertiser whose payments take turns. */
  party: 0x0ff3_0008,
  /** A user whose debits take turns: see users/balances.ts. */
  balance: 0x0ff3_0019,
  /** A visitor whose unlocks of a locker take turns: see lockers/unlocks.ts. */
  unlocks: 0x0ff3_001a,
  /** A user whose tickets take turns: see wall/tickets.ts. */
  tickets: 0x0ff3_0020,
  /** Answers that are mailed to users: see wall/ticket-mails.ts. */
  ticketMails: 0x0ff3_0021,
  /** A person whose requests for mailed links take turns: see accounts/mails.ts. */
  linkMails: 0x0ff3_0029,
} as const
