import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Schema from "effect/Schema"
import { Authorization } from "../middleware/Authorization.ts"
import { RateLimit } from "../middleware/RateLimit.ts"
import { RequestValidation } from "../middleware/RequestValidation.ts"
import { requestDescription } from "../openapi/Describe.ts"
import { queryDate, queryInteger, queryString } from "../validation/QueryRules.ts"
import { querySchema } from "../validation/RequestSchema.ts"
import { described, optional, withDefault } from "../validation/Rule.ts"
import { Timestamp } from "./Run.ts"

/** Who did what to which thing (http-details section 13.1). */
export const AuditEntry = Schema.Struct({
  id: Schema.String,
  actor: Schema.String.annotate({
    description: "`key:` with 8 hex digits of the API key's SHA-256, or `anonymous` when authentication is off",
    examples: ["key:5e884898"]
  }),
  actorType: Schema.String.annotate({ examples: ["api-key"] }),
  action: Schema.String.annotate({ examples: ["run.create"] }),
  resource: Schema.String.annotate({ examples: ["run"] }),
  resourceId: Schema.optionalKey(Schema.String),
  details: Schema.JsonObject,
  requestId: Schema.optionalKey(Schema.String.annotate({ description: "x-request-id of the request" })),
  createdAt: Timestamp
}).annotate({ identifier: "AuditEntry", description: "Who did what to which thing" })
export type AuditEntry = typeof AuditEntry.Type

export const AuditPage = Schema.Struct({
  data: Schema.Array(AuditEntry),
  total: Schema.Int.annotate({ description: "All matches of the same filters" }),
  limit: Schema.Int,
  offset: Schema.Int
}).annotate({ identifier: "AuditPage", description: "One page of the audit log, the newest entry first" })
export type AuditPage = typeof AuditPage.Type

export const MAX_AUDIT_PAGE = 200
export const DEFAULT_AUDIT_PAGE = 50

/** The query of `GET /audit`. Filters are equality; dates are compared strictly. */
export const auditQuery = querySchema({
  actor: optional(queryString()),
  action: described(
    optional(queryString()),
    "run.archived and run.deleted are accepted for run.archive and run.delete"
  ),
  resource: optional(queryString()),
  resourceId: optional(queryString()),
  createdAfter: optional(queryDate()),
  createdBefore: optional(queryDate()),
  limit: withDefault(queryInteger({ min: 1, max: MAX_AUDIT_PAGE }), DEFAULT_AUDIT_PAGE),
  offset: withDefault(queryInteger({ min: 0 }), 0)
})
export type AuditQuery = typeof auditQuery.schema.Type

/** The audit log (run-control-plane "Administration"). */
export class AuditGroup extends HttpApiGroup.make("audit")
  .add(
    HttpApiEndpoint.get("list", "/audit", { query: auditQuery.schema, success: AuditPage }).annotateMerge(
      requestDescription({ summary: "Read the audit log", query: auditQuery.rule })
    )
  )
  .middleware(RequestValidation)
  .middleware(RateLimit)
  .middleware(Authorization) {}
