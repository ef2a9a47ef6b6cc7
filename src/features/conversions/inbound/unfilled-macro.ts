/** A macro as it stands in a URL, which the sender's system did not fill in: {txn_id}, [order], %ORDER%. */
export const isUnfilled = (text: string): boolean =>
  /^(\{+[^{}]*\}+|\[[^[\]]*\]|%[a-z_]+%|\$\{[^{}]*\}|#[a-z_]+#)$/i.test(text)
