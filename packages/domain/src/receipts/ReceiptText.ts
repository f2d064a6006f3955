import type { ReceiptReport } from "./ReceiptReport.ts"

/** The report in a few words, for readers. */
export const receiptText = ({ issuer, keyId, reason, signed, verified }: ReceiptReport): string => {
  if (!verified) {
    const of = issuer === undefined ? "" : ` (issuer ${issuer})`
    return `not verified${of}: ${reason ?? "the reason is not on record"}`
  }
  const by = issuer === undefined ? "" : ` by ${issuer}`
  return signed
    ? `verified, signed${by}${keyId === undefined ? "" : ` with the key ${keyId}`}`
    : `verified, unsigned${by}`
}
