import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import * as Failure from "../../errors/ControlPlaneFailures.ts"
import { operation, tag } from "../../openapi/Describe.ts"
import { UuidParam } from "../../validation/Params.ts"
import { bodySchema } from "../../validation/RequestSchema.ts"
import { NewView, View, ViewChange, viewsQuery } from "./Views.ts"

const id = { id: UuidParam }

/** Saved views (docs/reference/search.md#views). */
export class ViewsGroup extends HttpApiGroup.make("views")
  .add(
    HttpApiEndpoint.get("list", "/views", { query: viewsQuery, success: Schema.Array(View) }).annotateMerge(
      operation({
        id: "listViews",
        access: "viewer",
        summary: "List the saved views",
        description:
          "Those that come with the product first, then the saved ones by name: all but the private views of others."
      })
    ),
    HttpApiEndpoint.post("create", "/views", {
      payload: bodySchema(NewView, { unknownKeys: "reject" }),
      success: View.pipe(HttpApiSchema.status(201)),
      error: [Failure.UnreadableSearch, Failure.ViewNameTaken]
    }).annotateMerge(
      operation({
        id: "createView",
        access: "operator",
        summary: "Save a view",
        description:
          "All callers can list it, unless it is private; `owner` says who saved it. The search is checked as `q` of the list is."
      })
    ),
    HttpApiEndpoint.patch("update", "/views/:id", {
      params: id,
      payload: bodySchema(ViewChange, { unknownKeys: "reject" }),
      success: View,
      error: [
        Failure.UnreadableSearch,
        Failure.ViewNameTaken,
        Failure.ReadOnlyView,
        Failure.ViewOfAnother,
        Failure.ViewNotFound
      ]
    }).annotateMerge(
      operation({
        id: "updateView",
        access: "operator",
        summary: "Change a saved view",
        description:
          "Any subset of the fields, by its owner and administrators. The views that come with the product are read-only."
      })
    ),
    HttpApiEndpoint.delete("remove", "/views/:id", {
      params: id,
      success: HttpApiSchema.NoContent,
      error: [Failure.ReadOnlyView, Failure.ViewOfAnother]
    }).annotateMerge(
      operation({
        id: "deleteView",
        access: "operator",
        summary: "Remove a saved view",
        description:
          "By its owner and administrators; an unknown one counts as removed. The views that come with the product are read-only."
      })
    )
  )
  .annotateMerge(tag("Search")) {}
