// A mapping: how an upstream's offer becomes one of ours, as data. Nothing in it is run; every step is named here.

/** Paths (paths.ts) of which the first that says something counts. */
export type Paths = string | string[]

/** `is`: one of these words, in any case. `not`: something, and none of them. `empty`: neither missing, blank nor 0. */
export type Condition = { path: string; is?: string | string[]; not?: string | string[]; empty?: boolean }

export type TextSource =
  | string
  | {
      /** Without it, `default` is a constant: the same for lists and amounts. */
      path?: Paths
      /** HTML, of which the text is taken: always, or where this holds. */
      html?: boolean | Condition
      /** Between several values; without it the first counts. */
      join?: string
      default?: string
    }

export type ListSource = string | { path?: Paths; split?: string; default?: string[] }

/** From their words to ours. */
export type Lookup = {
  path: Paths
  split?: string
  words: Record<string, string>
  /** For words that are not listed; without it they count for nothing. */
  otherwise?: string
}

export type Money =
  | string
  | {
      path?: Paths
      cents?: boolean
      /** Of several. `first` without it; with `only`, an offer with different ones is left out. */
      take?: 'first' | 'only' | 'sum' | 'highest'
      default?: string
    }

export type Goals = {
  list: string
  id?: TextSource
  name: TextSource
  description?: TextSource
  payout: Money
  /** Beside the amount. Without it, or where it is empty, that of the offer. */
  currency?: TextSource
  /** The amounts stand in another list, whose entries name their goal. */
  join?: { list: string; goal: string; is: string }
  /** Goals that are not required. */
  optional?: Condition
  /** What is paid for the offer itself, before its goals; without it or where it is 0, goals alone pay. */
  base?: { name: string; payout: Money }
  /** Callbacks do not say which goal was reached: offers with several are left out. */
  only_one?: boolean
}

export type Cap = {
  value: string
  where?: Condition[]
  period: 'day' | 'total'
  /** `revenue`: what the upstream pays; `payout`: what publishers are paid. */
  of: 'clicks' | 'conversions' | 'revenue' | 'payout'
  /** Of `revenue` and `payout`. Without it, that of the offer. */
  currency?: TextSource
}

/** What the click ID is given back in. `{click_id}` and the other macros of destinations may stand in the values. */
export type Link = {
  path: Paths
  /** Query parameters to set. */
  set?: Record<string, string>
  /** What stands in the link for it: `[USER_ID]`. */
  replace?: Record<string, string>
  append?: string
}

export type Mapping = {
  /** Where the offers are; empty where the answer is the list itself. */
  offers: string
  /** What a whole answer has. */
  success?: Condition
  /** Offers that are left out, with the reason that is shown. */
  skip?: (Condition & { reason: string })[]
  id: TextSource
  name: TextSource
  description?: TextSource
  requirements?: TextSource
  image?: TextSource
  time_estimate?: TextSource
  /** Seconds, shown as words. */
  time_seconds?: TextSource
  category?: Lookup
  /** `exclude`: where the platforms on which it does not run stand. */
  platforms?: Lookup & { exclude?: Paths }
  difficulty?: Lookup
  conversion_type?: Lookup
  language?: TextSource
  /** What it advertises: a link to an app store, or a name. */
  product?: TextSource
  countries?: { include?: ListSource; exclude?: ListSource }
  starts_at?: TextSource
  ends_at?: TextSource
  /** ISO 4217. Without it, or where it is empty, what the feed says. */
  currency?: TextSource
  /** What says that a payout is a share of something, or differs for each user. */
  not_fixed?: Condition[]
  /** The whole payout; where there are goals, only for offers without any. */
  payout?: Money
  goals?: Goals
  /** Lists with a row for each country, or some: what is paid alike becomes an offer of its own (by-country.ts). */
  by_country?: {
    /** `goals[].payouts`: a list in each goal. */
    list: string | string[]
    countries: ListSource
    exclude?: ListSource
    /** Rows that are for all countries but theirs. */
    negated?: Condition
    platforms?: Lookup
    /** What a row is for: rows with the same exclude each other. */
    of?: TextSource
  }
  caps?: Cap[]
  link: Link
}
