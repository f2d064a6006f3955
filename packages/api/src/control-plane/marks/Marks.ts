import { about, Field, Mark, MarkDefinition, MarkName, MarkSource, MarkTargetKind } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { mayUse, type Role } from "../../caller/Access.ts"
import { integer, withDefault } from "../../validation/Fields.ts"
import { querySchema } from "../../validation/RequestSchema.ts"

const optional = Schema.optionalKey

export const MAX_MARK_PAGE = 500

/** Marks of a run, the replaced and deleted ones included. */
export const MAX_MARKS_OF_RUN = 10_000
/** Bytes of the values, comments and judges of the marks of a run. */
export const MAX_MARK_BYTES_OF_RUN = 16 * 1024 * 1024
export const MAX_MARK_DEFINITIONS = 1_000

/** Whether a caller may delete a mark: its author and administrators may. `id` is that of the caller's actor. */
export const mayDeleteMark = (id: string, role: Role, { author }: Pick<Mark, "author">): boolean =>
  mayUse(role, author === id ? "operator" : "admin")

/** The answer of `GET /runs/:id/marks` and `GET /marks`. */
export const MarkPage = Schema.Struct({
  data: Schema.Array(Mark).annotate({ description: "The marks of this page, the newest first" }),
  total: Field.integer("All marks that match", 12),
  limit: Field.integer("Most marks of a page", 100),
  offset: Field.integer("Marks before this page", 0)
}).annotate({ identifier: "MarkPage", description: "A page of marks" })
export type MarkPage = typeof MarkPage.Type

const page = {
  limit: withDefault(integer({ min: 1, max: MAX_MARK_PAGE }).annotate(about("Most marks of the page", 100)), 100),
  offset: withDefault(integer({ min: 0, max: 1_000_000 }).annotate(about("Marks before the page", 0)), 0)
}

/** The query of `GET /runs/:id/marks`. */
export const runMarksQuery = querySchema({
  ...page,
  name: optional(MarkName.annotate(about("Only marks of this name", "quality"))),
  kind: optional(Schema.Literals(MarkTargetKind.literals).annotate(about("Only marks of such targets", "run"))),
  source: optional(Schema.Literals(MarkSource.literals).annotate(about("Only marks of this source", "human"))),
  history: withDefault(
    Schema.Boolean.annotate(about("Whether replaced and deleted marks are listed too", false)),
    false
  )
})
export type RunMarksQuery = typeof runMarksQuery.Type

/** The query of `DELETE /runs/:id/marks/:markId`. */
export const removeMarkQuery = querySchema({
  restore: withDefault(
    Schema.Boolean.annotate(about("Whether the mark that it replaced is current again, as an undo does it", false)),
    false
  )
})
export type RemoveMarkQuery = typeof removeMarkQuery.Type

/** The body of `PUT /marks/definitions/:name`. */
export const NewMarkDefinition = Schema.Struct({
  kind: MarkDefinition.fields.kind,
  min: MarkDefinition.fields.min,
  max: MarkDefinition.fields.max,
  categories: MarkDefinition.fields.categories,
  better: MarkDefinition.fields.better,
  description: MarkDefinition.fields.description
}).annotate({ identifier: "MarkDefinitionRequest", description: "The values that marks of a name are to have" })
export type NewMarkDefinition = typeof NewMarkDefinition.Type
