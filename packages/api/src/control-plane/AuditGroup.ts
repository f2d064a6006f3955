import { Field } from "@runplane/domain"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Schema from "effect/Schema"
import { Authorization } from "../middleware/Authorization.ts"
import { RateLimit } from "../middleware/RateLimit.ts"
import { RequestValidation } from "../middleware/RequestValidation.ts"
import { operation, tag } from "../openapi/Describe.ts"
import { queryDate, queryInteger, queryString } from "../validation/QueryRules.ts"
import { querySchema } from "../validation/RequestSchema.ts"
import { described, optional, withDefault } from "../validation/Rule.ts"

/** Who did what to which thing (http-details section 13.1). */
export const AuditEntry = Schema.Struct({
  id: Field.text("Id of the entry: UUID"),
  actor: Field.text(
    "`key:` with 8 hex digits of the API key's SHA-256, or `anonymous` when authentication is off",
    "key:5e884898"
  ),
  actorType: Field.text("What the actor is: api-key or anonymous", "api-key"),
  action: Field.text("What was done", "run.create"),
  resource: Field.text("Kind of the thing it was done to", "run"),
  resourceId: Schema.optionalKey(Field.text("Id of that thing; absent when there is only one")),
  details: Field.object("What else is worth knowing; may be empty"),
  requestId: Schema.optionalKey(Field.text("X-Request-Id of the request")),
  createdAt: Field.time("When it was done")
}).annotate({ identifier: "AuditEntry", description: "Who did what to which thing" })
export type AuditEntry = typeof AuditEntry.Type

export const AuditPage = Schema.Struct({
  data: Schema.Array(AuditEntry).annotate({ description: "The entries of this page" }),
  total: Field.integer("All matches of the same filters"),
  limit: Field.integer("Most entries a page holds, as asked for"),
  offset: Field.integer("Matches before this page")
}).annotate({ identifier: "AuditPage", description: "One page of the audit log, the newest entry first" })
export type AuditPage = typeof AuditPage.Type

export const MAX_AUDIT_PAGE = 200
export const DEFAULT_AUDIT_PAGE = 50

/** The query of `GET /audit`. Filters are equality; dates are compared strictly. */
export const auditQuery = querySchema({
  actor: described(optional(queryString()), "Only what this actor did", "key:5e884898"),
  action: described(
    optional(queryString()),
    "Only this action; run.archived and run.deleted are accepted for run.archive and run.delete",
    "run.create"
  ),
  resource: described(optional(queryString()), "Only what was done to this kind of thing", "run"),
  resourceId: described(
    optional(queryString()),
    "Only what was done to this thing",
    "5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10"
  ),
  createdAfter: described(optional(queryDate()), "Only what was done after this time, exclusive", "2026-07-01"),
  createdBefore: described(optional(queryDate()), "Only what was done before this time, exclusive", "2026-07-02"),
  limit: described(
    withDefault(queryInteger({ min: 1, max: MAX_AUDIT_PAGE }), DEFAULT_AUDIT_PAGE),
    "Most entries of the page",
    DEFAULT_AUDIT_PAGE
  ),
  offset: described(withDefault(queryInteger({ min: 0 }), 0), "Matches to leave out before the page", 0)
})
export type AuditQuery = typeof auditQuery.schema.Type

/** The audit log (run-control-plane "Administration"). */
export class AuditGroup extends HttpApiGroup.make("audit")
  .add(
    HttpApiEndpoint.get("list", "/audit", { query: auditQuery.schema, success: AuditPage }).annotateMerge(
      operation({
        id: "listAuditEntries",
        summary: "Read the audit log",
        description: "Who did what to which thing, the newest first. Filters are equality.",
        query: auditQuery.rule
      })
    )
  )
  .middleware(RequestValidation)
  .middleware(RateLimit)
  .middleware(Authorization)
  .annotateMerge(tag("Audit", "Who did what")) {}
