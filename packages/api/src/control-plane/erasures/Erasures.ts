import { Field, RunId } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { integer, withDefault } from "../../validation/Fields.ts"
import { searchText } from "../query/DescribedField.ts"
import { runQueryFields } from "../query/QueryFields.ts"

const optional = Schema.optionalKey

/** Greatest position in a run: positions are 32-bit integers. */
const MAX_INDEX = 2_147_483_647

/** Characters of a searched text, and of a reason. */
export const MIN_FIND = 2
export const MAX_FIND = 1_000
export const MAX_ERASURE_REASON = 500
/** Most members of one request. */
export const MAX_ERASED_MEMBERS = 1_000
/** Most entries of each list of an answer; the counts beside them have all. */
export const MAX_LISTED_MEMBERS = 1_000

const target = Schema.Literals(["event", "frame"]).annotate({ description: "What the member belongs to" })

/** A member of an event or a raw frame, by its position. */
export const MemberPosition = Schema.Struct({
  target,
  index: Field.integer("Position of the event, or of the raw frame, in the run", 1),
  pointer: Field.text("JSON pointer of the member", "/data/decodedPayload/reason")
}).annotate({ identifier: "MemberPosition", description: "A member of an event or a raw frame" })
export type MemberPosition = typeof MemberPosition.Type

const find = Schema.String.check(
  Schema.makeFilter((text) => text.trim().length >= MIN_FIND, {
    message: `find must have at least ${MIN_FIND} characters beside spaces`,
    toJsonSchema: () => ({ minLength: MIN_FIND })
  }),
  Schema.isMaxLength(MAX_FIND)
).annotate({
  description:
    "Text to erase wherever it is found, compared as searches compare: without case. It is not stored beyond the " +
    "erasure, and no audit entry has it",
  examples: ["Ann Lee"]
})

const reason = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(MAX_ERASURE_REASON)).annotate({
  description: "Why. It stays in the entries of the erasure and with each erased member, for all readers",
  examples: ["request 4711 of the person"]
})

const dryRun = withDefault(
  Schema.Boolean.annotate({ description: "Erases nothing, and answers what would be erased, with its plan" }),
  false
)

const plan = optional(
  Field.text(
    "The `plan` of a dry run. Required unless `dryRun` is true: an erasure whose plan is not that of the present " +
      "state is refused"
  )
)

/** The body of `POST /runs/:id/erasures`. */
export const NewErasure = Schema.Struct({
  find: optional(find),
  members: optional(
    Schema.Array(
      Schema.Struct({
        target: withDefault(target, "event"),
        index: integer({ min: 1, max: MAX_INDEX }).annotate({
          description: "Position of the event, or of the raw frame, in the run"
        }),
        pointer: Field.text("JSON pointer of the member", "/data/decodedPayload/reason")
      }).annotate({ identifier: "NamedMember", description: "A member to erase" })
    )
      .annotate({ description: "Members to erase, in place of `find`" })
      .check(Schema.isMinLength(1), Schema.isMaxLength(MAX_ERASED_MEMBERS))
  ),
  reason,
  dryRun,
  plan
}).annotate({
  identifier: "ErasureRequest",
  description: "What to erase from a run: a text, or members by their positions"
})
export type NewErasure = typeof NewErasure.Type

/** Where else than in the log something was erased. */
export const ERASED_ROWS = [
  "run",
  "artifact",
  "message",
  "mark",
  "delivery",
  "alert",
  "command",
  "received span",
  "seen span",
  "decision"
] as const

export const ErasedRows = Schema.Struct({
  of: Schema.Literals(ERASED_ROWS).annotate({ description: "What the rows are" }),
  count: Field.integer("Number of rows that have lost a text", 1)
}).annotate({ identifier: "ErasedRows", description: "Rows beside the log that lose the text" })
export type ErasedRows = typeof ErasedRows.Type

/** A position that has the text and keeps it. */
export const RemainingText = Schema.Struct({
  of: Field.text("The event, the frame or the kind of row that has the text", "event"),
  id: optional(Field.text("Its id, where it has one")),
  index: optional(Field.integer("Position of the event or raw frame in the run", 1)),
  pointer: optional(Field.text("JSON pointer of the member", "/data/decodedPayload/option")),
  why: Field.text("Why it stays", "a decision keeps its arithmetic")
}).annotate({ identifier: "RemainingText", description: "A position that has the text and keeps it" })
export type RemainingText = typeof RemainingText.Type

const PendingFiles = Schema.Struct({
  since: Field.time("When the erasure was requested"),
  until: Field.text("What ends it", "the next compaction after the day of the last event has ended")
}).annotate({ identifier: "PendingFiles", description: "Files of the archive that still have the text" })

/** The answer of `POST /runs/:id/erasures`. */
export const Erasure = Schema.Struct({
  runId: RunId,
  dryRun: Schema.Boolean.annotate({ description: "Whether nothing was erased" }),
  plan: Field.text("What is erased and kept, as the erasure must send it back"),
  at: Field.time("When"),
  by: Field.text("Caller", "key:5e884898"),
  reason: Field.text("Why", "request 4711 of the person"),
  members: Field.integer("Erased members of events and raw frames", 2),
  erased: Schema.Array(MemberPosition).annotate({ description: `The first ${MAX_LISTED_MEMBERS} of them` }),
  rows: Schema.Array(ErasedRows).annotate({ description: "Rows beside the log that lose the text" }),
  remaining: Field.integer("Positions that keep the text", 0),
  remains: Schema.Array(RemainingText).annotate({ description: `The first ${MAX_LISTED_MEMBERS} of them` }),
  pending: Schema.NullOr(PendingFiles).annotate({ description: "Null where no file of an archive has the run" }),
  notReached: Schema.Array(Schema.String).annotate({ description: "Copies that the service cannot reach" })
}).annotate({ identifier: "Erasure", description: "What was erased from a run, or would be" })
export type Erasure = typeof Erasure.Type

/** The body of `POST /erasures`. */
export const NewErasureJob = Schema.Struct({
  find,
  query: optional(
    searchText(runQueryFields, "Search over runs; all runs without it", "scenario:support createdAt:>2026-01-01")
  ),
  reason,
  dryRun,
  plan
}).annotate({ identifier: "ErasureJobRequest", description: "What to erase from many runs" })
export type NewErasureJob = typeof NewErasureJob.Type

const count = (description: string) => Field.integer(description, 500)

/** The answer of `POST /erasures` and `GET /erasures/:id`. */
export const ErasureJob = Schema.Struct({
  id: Field.text("Id of the job: UUID"),
  dryRun: Schema.Boolean.annotate({ description: "Whether it erases nothing" }),
  state: Schema.Literals(["searching", "erasing", "done"]).annotate({ description: "What it does" }),
  query: Field.text("Search over runs; empty for all runs"),
  reason: Field.text("Why", "request 4711 of the person"),
  by: Field.text("Caller", "key:5e884898"),
  createdAt: Field.time("When it was requested"),
  endedAt: optional(Field.time("When it ended")),
  plan: optional(Field.text("Of a dry run that is done: what the erasure must send back")),
  runs: count("Runs that the query matched when the job began"),
  done: count("Runs of which the job is done"),
  matching: count("Runs with something to erase"),
  erased: count("Runs from which it was erased"),
  members: count("Erased members of events and raw frames; of a dry run those that would be"),
  remaining: count("Positions that keep the text"),
  leftOut: count("Runs that it left as they are, although the text may be in them"),
  runsLeftOut: Schema.Array(
    Schema.Struct({
      runId: RunId,
      why: Field.text("Why", "its seal is of version 1")
    }).annotate({ identifier: "RunLeftOut", description: "A run that an erasure left as it is" })
  ).annotate({ description: `The first ${MAX_LISTED_MEMBERS} of them` }),
  pendingFiles: count("Runs of which files of the archive still have the text"),
  notReached: Schema.Array(Schema.String).annotate({ description: "Copies that the service cannot reach" })
}).annotate({ identifier: "ErasureJob", description: "An erasure over many runs, or the dry run of one" })
export type ErasureJob = typeof ErasureJob.Type

export const ErasureJobPage = Schema.Struct({
  data: Schema.Array(ErasureJob).annotate({ description: "The newest first" })
}).annotate({ identifier: "ErasureJobPage", description: "Erasures over many runs" })
