import { about, Field, LedgerEntry } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { integer, withDefault } from "../../validation/Fields.ts"
import { querySchema } from "../../validation/RequestSchema.ts"

/** What became of the content of an entry. */
export const LEDGER_CONTENTS = ["kept", "changed", "missing", "deleted", "expired"] as const

/** An entry of the ledger, with what the database holds of its content now (docs/reference/seal.md#ledger). */
export const ListedLedgerEntry = Schema.Struct({
  ...LedgerEntry.fields,
  content: Schema.Literals(LEDGER_CONTENTS).annotate({
    description:
      "kept as it was; changed or missing; deleted with its run, of which a tombstone is kept; expired by retention"
  }),
  lacks: Schema.optionalKey(
    Schema.Literal("mark").annotate({
      description: "Of a missing content: the audit entry is kept, but not the mark that it records; absent otherwise"
    })
  )
}).annotate({ identifier: "ListedLedgerEntry", description: "An entry of the ledger, and what became of its content" })
export type ListedLedgerEntry = typeof ListedLedgerEntry.Type

export const LedgerPage = Schema.Struct({
  data: Schema.Array(ListedLedgerEntry).annotate({ description: "The entries of this page, by number" }),
  limit: Field.integer("Most entries of a page, as requested"),
  unlisted: Schema.optionalKey(
    Schema.Struct({
      seals: Field.integer("Seals"),
      tombstones: Field.integer("Tombstones"),
      auditEntries: Field.integer("Audit entries")
    }).annotate({
      description: "On the last page: what is stored since the ledger began, has no entry and waits for none"
    })
  )
}).annotate({ identifier: "LedgerPage", description: "One page of the ledger" })
export type LedgerPage = typeof LedgerPage.Type

export const MAX_LEDGER_PAGE = 500

/** The query of `GET /ledger`. */
export const ledgerQuery = querySchema({
  after: withDefault(integer({ min: 0 }).annotate(about("Entries behind this number", 0)), 0),
  limit: withDefault(
    integer({ min: 1, max: MAX_LEDGER_PAGE }).annotate(about("Most entries of the page", MAX_LEDGER_PAGE)),
    MAX_LEDGER_PAGE
  )
})
export type LedgerQuery = typeof ledgerQuery.Type
