import type { Feature } from "../../Feature.ts"
import { makeReceiptOutbox, PendingReceipts } from "./PendingReceipts.ts"
import * as Receipts from "./Receipts.ts"

/** Receipts of decisions: read from the runtime, checked, recorded (docs/internals/runtime.md#receipts). */
export const receipts = {
  name: "receipts",
  tables: ["pending_receipts"],
  base: PendingReceipts.layer,
  reactor: makeReceiptOutbox,
  layer: Receipts.layer
} satisfies Feature
