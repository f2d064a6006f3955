import { about, Field } from "@runplane/domain"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Schema from "effect/Schema"
import * as Failure from "../../errors/ControlPlaneFailures.ts"
import { operation, tag } from "../../openapi/Describe.ts"
import { integer, isoDate, withDefault } from "../../validation/Fields.ts"
import { querySchema } from "../../validation/RequestSchema.ts"
import { searchText } from "../query/DescribedField.ts"
import { cursorText } from "../runs/RunRequests.ts"
import { auditQueryFields } from "./AuditFields.ts"

const optional = Schema.optionalKey

/** Who did what to which thing (docs/reference/admin.md#audit). */
export const AuditEntry = Schema.Struct({
  id: Field.text("Id of the entry: UUID"),
  actor: Field.text(
    "Name of the API key or `key:` with 8 hex digits of its SHA-256, `user:` and the subject of a token, or `anonymous` " +
      "when authentication is off or no key was right",
    "key:5e884898"
  ),
  actorName: Schema.optionalKey(
    Field.text("`user:` and the name in the token, for readers; two actors may have the same", "user:ann")
  ),
  actorType: Field.text("What the actor is: api-key, user, rule or anonymous", "api-key"),
  action: Field.text("What was done", "run.create"),
  resource: Field.text("Kind of the thing it was done to", "run"),
  resourceId: Schema.optionalKey(Field.text("Id of that thing; absent when there is only one")),
  details: Field.object("What else is worth knowing; may be empty"),
  requestId: Schema.optionalKey(Field.text("X-Request-Id of the request")),
  clientAddress: Schema.optionalKey(Field.text("Address of the client that sent the request", "203.0.113.7")),
  createdAt: Field.time("When it was done")
}).annotate({ identifier: "AuditEntry", description: "Who did what to which thing" })
export type AuditEntry = typeof AuditEntry.Type

export const AuditPage = Schema.Struct({
  data: Schema.Array(AuditEntry).annotate({ description: "The entries of this page" }),
  total: Field.integer("All matches of the same filters"),
  limit: Field.integer("Most entries of a page, as requested"),
  offset: Field.integer("Matches before this page, as requested"),
  nextCursor: optional(Field.text("Only on a full page: to be given as cursor for the next one"))
}).annotate({ identifier: "AuditPage", description: "One page of the audit log, the newest entry first" })
export type AuditPage = typeof AuditPage.Type

export const MAX_AUDIT_PAGE = 200
export const DEFAULT_AUDIT_PAGE = 50

/** The query of `GET /audit`. Filters are equality; dates are compared strictly. */
export const auditQuery = querySchema({
  actor: optional(Field.text("Only what this actor did", "key:5e884898")),
  action: optional(
    Field.text(
      "Only this action; run.archived and run.deleted are accepted for run.archive and run.delete",
      "run.create"
    )
  ),
  resource: optional(Field.text("Only what was done to this kind of thing", "run")),
  resourceId: optional(Field.text("Only what was done to this thing", "5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10")),
  createdAfter: optional(isoDate("Only what was done after this time, exclusive", "2026-07-01")),
  createdBefore: optional(isoDate("Only what was done before this time, exclusive", "2026-07-02")),
  limit: withDefault(
    integer({ min: 1, max: MAX_AUDIT_PAGE }).annotate(about("Most entries of the page", DEFAULT_AUDIT_PAGE)),
    DEFAULT_AUDIT_PAGE
  ),
  offset: withDefault(integer({ min: 0 }).annotate(about("Matches to leave out before the page", 0)), 0),
  q: optional(
    searchText(
      auditQueryFields,
      "Entries that this search finds, among those of the other filters; GET /query/fields lists its fields",
      "action:(run.cancel,run.delete) createdAt:>=2026-07-01"
    )
  ),
  cursor: optional(cursorText)
})
export type AuditQuery = typeof auditQuery.Type

/** The audit log. */
export class AuditGroup extends HttpApiGroup.make("audit")
  .add(
    HttpApiEndpoint.get("list", "/audit", {
      query: auditQuery,
      success: AuditPage,
      error: [Failure.UnknownCursor, Failure.SearchTooSlow]
    }).annotateMerge(
      operation({
        id: "listAuditEntries",
        access: "viewer",
        summary: "Read the audit log",
        description: "Who did what to which thing, the newest first. Filters are equality."
      })
    )
  )
  .annotateMerge(tag("Audit", "Who did what")) {}
