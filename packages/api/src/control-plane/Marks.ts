import { about, Field, Mark, MarkDefinition, MarkName, MarkSource, MarkTargetKind } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { integer, withDefault } from "../validation/Fields.ts"
import { querySchema } from "../validation/RequestSchema.ts"

const optional = Schema.optionalKey

export const MAX_MARK_PAGE = 500

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
  name: optional(MarkName),
  kind: optional(MarkTargetKind),
  source: optional(MarkSource),
  history: withDefault(
    Schema.Literals(["true", "false"]).annotate(about("Whether replaced and deleted marks are listed too", "false")),
    "false"
  )
})
export type RunMarksQuery = typeof runMarksQuery.Type

/** The body of `PUT /marks/definitions/:name`. */
export const NewMarkDefinition = Schema.Struct({
  kind: MarkDefinition.fields.kind,
  min: MarkDefinition.fields.min,
  max: MarkDefinition.fields.max,
  categories: MarkDefinition.fields.categories,
  better: MarkDefinition.fields.better,
  description: MarkDefinition.fields.description
}).annotate({ identifier: "NewMarkDefinition", description: "The values that marks of a name are to have" })
export type NewMarkDefinition = typeof NewMarkDefinition.Type
