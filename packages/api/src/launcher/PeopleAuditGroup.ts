import { about, Field, isOfForm, isOneLine, isVisible } from "@runplane/domain"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Schema from "effect/Schema"
import * as Failure from "../errors/LauncherFailures.ts"
import { operation, tag } from "../openapi/Describe.ts"
import { integer, withDefault } from "../validation/Fields.ts"
import { UuidParam } from "../validation/Params.ts"
import { bodySchema, querySchema } from "../validation/RequestSchema.ts"

const absent = Schema.optionalKey

export const MAX_PEOPLE_AUDIT_PAGE = 200
export const DEFAULT_PEOPLE_AUDIT_PAGE = 50
const MAX_REASON = 500
const MAX_SESSION_ID = 512

/** Who did what to which question (docs/reference/people.md#audit). */
export const PeopleAuditEntry = Schema.Struct({
  id: Field.text("Position of the entry; later entries have greater ones", "4711"),
  at: Field.time("When it was done"),
  actor: Field.text("The person; `service`, `deadline` or `retention` for what no person did", "ann"),
  action: Field.text("What was done", "item.answered"),
  item: absent(Field.text("The question; absent for what concerns none")),
  sessionId: absent(Field.text("The session of the question")),
  seat: absent(Field.text("The seat of the question", "risk-officer")),
  detail: Field.object("More about it; it has no text of a proposal, and of an answer its act alone")
}).annotate({ identifier: "PeopleAuditEntry", description: "Who did what to which question" })
export type PeopleAuditEntry = typeof PeopleAuditEntry.Type

export const PeopleAuditPage = Schema.Struct({
  data: Schema.Array(PeopleAuditEntry).annotate({ description: "The entries of this page, the newest first" }),
  limit: Field.integer("Most entries of a page, as requested"),
  nextCursor: absent(Field.text("Only on a full page: to be given as cursor for the next one"))
}).annotate({ identifier: "PeopleAuditPage", description: "One page of the audit of questions and answers" })
export type PeopleAuditPage = typeof PeopleAuditPage.Type

export const peopleAuditQuery = querySchema({
  item: absent(UuidParam.annotate({ description: "Only entries of this question" })),
  actor: absent(Field.text("Only what this person did", "ann")),
  cursor: absent(
    Schema.String.annotate(about("nextCursor of the page before", "4711")).check(isOfForm(/^[1-9]\d{0,17}$/))
  ),
  limit: withDefault(
    integer({ min: 1, max: MAX_PEOPLE_AUDIT_PAGE }).annotate(
      about("Most entries of the page", DEFAULT_PEOPLE_AUDIT_PAGE)
    ),
    DEFAULT_PEOPLE_AUDIT_PAGE
  )
})
export type PeopleAuditQuery = typeof peopleAuditQuery.Type

const line = (max: number, description: string, example: string) =>
  Schema.String.annotate(about(description, example)).check(Schema.isMaxLength(max), isOneLine, isVisible)

export const PeopleErasureRequest = Schema.Struct({
  sessionId: line(MAX_SESSION_ID, "The session", "8d5a3f0c-93d4-4c4e-9d60-5c7f1c2a7e10"),
  reason: line(MAX_REASON, "Why; it stays in the audit, so it must not contain an erased text", "request 4711")
}).annotate({ identifier: "PeopleErasureRequest", description: "A session whose texts are to be erased" })
export type PeopleErasureRequest = typeof PeopleErasureRequest.Type

export const PeopleErasure = Schema.Struct({
  sessionId: Field.text("The session"),
  seats: Field.integer("Seats that were erased now; 0 for a session that was erased before"),
  items: Field.integer("Questions that lost their payload and its hash"),
  answers: Field.integer("Answers that lost their reason, their message and its hash"),
  nonces: Field.integer("Nonces that were deleted: without them nothing can be guessed from a proposal's hash"),
  records: Field.integer("Copies of what the control plane has that were deleted"),
  returns: Field.integer("Reasons of returned questions that were erased"),
  questions: Field.integer("Questions to the agents that were erased"),
  delegations: Field.integer("Reasons of delegations by which a question was answered that were erased")
}).annotate({ identifier: "PeopleErasure", description: "How many rows of the launch service have lost their texts" })
export type PeopleErasure = typeof PeopleErasure.Type

/** The audit and the erasure of questions and answers. */
export class PeopleAuditGroup extends HttpApiGroup.make("people")
  .add(
    HttpApiEndpoint.get("audit", "/people/audit", {
      query: peopleAuditQuery,
      success: PeopleAuditPage,
      error: [Failure.InboxDatabaseAway, Failure.NoPeopleDatabase]
    }).annotateMerge(
      operation({
        id: "listPeopleAudit",
        access: "admin",
        summary: "Read the audit of questions and answers",
        description:
          "Who saw a question first, who answered or returned it, which answers were refused and why, escalations, " +
          "delegations, and what was erased; the newest entry first."
      })
    ),
    HttpApiEndpoint.post("erase", "/people/erasures", {
      payload: bodySchema(PeopleErasureRequest, { unknownKeys: "reject" }),
      success: PeopleErasure,
      error: [Failure.NoSeatOfSession, Failure.ErasureTooEarly, Failure.InboxDatabaseAway, Failure.NoPeopleDatabase]
    }).annotateMerge(
      operation({
        id: "erasePeopleTexts",
        access: "admin",
        summary: "Erase the texts of a session",
        description:
          "Erases payloads, reasons, hashes and nonces of the questions and answers of a session that is over. Ids, " +
          "times and acts stay. The texts of the run are erased at the control plane."
      })
    )
  )
  .annotateMerge(tag("People", "Audit and erasure of questions and answers")) {}
