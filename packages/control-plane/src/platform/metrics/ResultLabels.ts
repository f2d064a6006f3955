/** The kinds of `ArchiveFault`, and the database. */
export const archiveFailureKinds = [
  ...(["full", "refused", "clock", "unreachable", "missing", "unreadable", "failed"] as const),
  "database"
] as const

/** What the check of a receipt found: `refuted` by the log, `unverified` by itself, `missing` where there is none. */
export const receiptResults = ["verified", "refuted", "unverified", "missing"] as const
export type ReceiptResult = (typeof receiptResults)[number]
