import { Mark, MarkDefinition, MarkName, NewMark } from "@runplane/domain"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import * as Failure from "../../errors/ControlPlaneFailures.ts"
import { operation, tag } from "../../openapi/Describe.ts"
import { RunReference, UuidParam } from "../../validation/Params.ts"
import { bodySchema } from "../../validation/RequestSchema.ts"
import { MarkPage, NewMarkDefinition, removeMarkQuery, runMarksQuery } from "./Marks.ts"

const id = { id: RunReference }
const name = { name: MarkName }

/** Marks of runs and the definitions of their names (docs/reference/marks.md). */
export class MarksGroup extends HttpApiGroup.make("marks")
  .add(
    HttpApiEndpoint.post("add", "/runs/:id/marks", {
      params: id,
      payload: bodySchema(NewMark, { unknownKeys: "reject" }),
      success: [Mark.pipe(HttpApiSchema.status(201)), Mark],
      error: [Failure.RunNotFound, Failure.MarkRefused, Failure.MarkConflict]
    }).annotateMerge(
      operation({
        id: "addMark",
        access: "operator",
        summary: "Add a mark to a run",
        description:
          "The caller is its author. A current mark of the same author, or of the same judge, with the same target and " +
          "name is replaced. A repeated `idempotencyKey` with the same body is answered with the first mark and 200. " +
          "Neither the log nor the state of the run changes."
      })
    ),
    HttpApiEndpoint.get("list", "/runs/:id/marks", {
      params: id,
      query: runMarksQuery,
      success: MarkPage,
      error: Failure.RunNotFound
    }).annotateMerge(
      operation({
        id: "listRunMarks",
        access: "viewer",
        summary: "List the marks of a run",
        description: "The newest first. `history=true` adds the replaced and the deleted ones."
      })
    ),
    HttpApiEndpoint.delete("remove", "/runs/:id/marks/:markId", {
      params: { ...id, markId: UuidParam },
      query: removeMarkQuery,
      success: HttpApiSchema.NoContent,
      error: [Failure.RunNotFound, Failure.RunReadOnly, Failure.MarkNotFound, Failure.MarkOfAnother]
    }).annotateMerge(
      operation({
        id: "deleteMark",
        access: "operator",
        summary: "Delete a mark",
        description:
          "By its author and administrators. Its value, its comment and its judge are erased; a tombstone stays. " +
          "`restore=true` makes the mark that it replaced current again. A repeated deletion changes nothing."
      })
    ),
    HttpApiEndpoint.get("definitions", "/marks/definitions", {
      success: Schema.Array(MarkDefinition)
    }).annotateMerge(
      operation({
        id: "listMarkDefinitions",
        access: "viewer",
        summary: "List the definitions of marks",
        description: "The reserved ones first, then the others by name."
      })
    ),
    HttpApiEndpoint.get("definition", "/marks/definitions/:name", {
      params: name,
      success: MarkDefinition,
      error: Failure.MarkDefinitionNotFound
    }).annotateMerge(
      operation({
        id: "getMarkDefinition",
        access: "viewer",
        summary: "Read the definition of a name",
        description: "The values that marks of the name have."
      })
    ),
    HttpApiEndpoint.put("define", "/marks/definitions/:name", {
      params: name,
      payload: bodySchema(NewMarkDefinition, { unknownKeys: "reject" }),
      success: MarkDefinition,
      error: [Failure.InvalidMarkDefinition, Failure.ReservedMarkName, Failure.TooManyMarkDefinitions]
    }).annotateMerge(
      operation({
        id: "putMarkDefinition",
        access: "admin",
        summary: "Define the values of a name",
        description: "Replaces the definition of the name. Marks that exist keep their values."
      })
    ),
    HttpApiEndpoint.delete("undefine", "/marks/definitions/:name", {
      params: name,
      success: HttpApiSchema.NoContent,
      error: Failure.ReservedMarkName
    }).annotateMerge(
      operation({
        id: "deleteMarkDefinition",
        access: "admin",
        summary: "Remove the definition of a name",
        description: "Marks of the name stay, and may have any value then. An unknown one counts as removed."
      })
    )
  )
  .annotateMerge(tag("Marks", "Judgements of runs by people, judges, rules and other systems, beside the log")) {}
