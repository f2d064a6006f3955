import { about, Field } from "@runplane/domain"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Schema from "effect/Schema"
import * as Failure from "../../errors/ControlPlaneFailures.ts"
import { operation, tag } from "../../openapi/Describe.ts"
import { querySchema } from "../../validation/RequestSchema.ts"
import { facetFields, MAX_FACET_VALUES, runFacetsQuery } from "../runs/RunRequests.ts"
import { queryResources } from "./QueryFields.ts"

const Resource = Schema.Literals(queryResources).annotate(about("What is searched", "runs"))

/** A field of a search, for completion (docs/reference/search.md#query). */
export const SearchField = Schema.Struct({
  name: Field.text("The text before the colon; of a dotted field a dot and a name follow", "status"),
  type: Schema.Literals(["text", "keyword", "number", "time", "flag", "uuid", "value"]).annotate({
    description: "What its values are; numbers and times have an order. A `value` is a number, a flag or a text"
  }),
  description: Field.text("What it says"),
  values: Schema.optionalKey(Field.texts("The only values that it has", ["failed", "cancelled"])),
  examples: Schema.optionalKey(Field.texts("Some of its values, as suggestions", ["now-1d"])),
  dotted: Schema.optionalKey(Field.flag("Whether a dot and a name follow: metadata.team")),
  hasAny: Schema.optionalKey(Field.flag("Whether has: may leave the name out: has:mark")),
  isFast: Field.flag("Whether an index finds its values; the other fields are looked for row by row")
}).annotate({ identifier: "SearchField", description: "A field that a search may name" })
export type SearchField = typeof SearchField.Type

export const SearchFields = Schema.Struct({
  resource: Resource,
  fields: Schema.Array(SearchField).annotate({ description: "The fields, the fast ones first" })
}).annotate({ identifier: "SearchFields", description: "What a search over a resource may name" })
export type SearchFields = typeof SearchFields.Type

export const RunFacets = Schema.Struct({
  total: Field.integer("Runs that match", 104),
  facets: Schema.Array(
    Schema.Struct({
      field: Schema.Literals(facetFields).annotate(about("The field, as a search names it", "status")),
      values: Schema.Array(
        Schema.Struct({
          value: Field.text("The value", "completed"),
          count: Field.integer("Matching runs that have it", 92)
        })
      ).annotate({ description: `The most frequent values first, at most ${MAX_FACET_VALUES}` })
    })
  ).annotate({ description: "The requested fields that a matching run has" })
}).annotate({ identifier: "RunFacets", description: "How often runs have each value of some fields" })
export type RunFacets = typeof RunFacets.Type

/** The search language (docs/reference/search.md#query). */
export class QueryGroup extends HttpApiGroup.make("query")
  .add(
    HttpApiEndpoint.get("fields", "/query/fields", {
      query: querySchema({ resource: Resource }),
      success: SearchFields
    }).annotateMerge(
      operation({
        id: "listSearchFields",
        access: "viewer",
        summary: "List the fields of a search",
        description:
          "What `q` of `GET /runs`, `GET /events`, `GET /audit` and `GET /marks` may name: for completion in consoles and shells."
      })
    ),
    HttpApiEndpoint.get("facets", "/runs/facets", {
      query: runFacetsQuery,
      success: RunFacets,
      error: Failure.SearchTooSlow
    }).annotateMerge(
      operation({
        id: "countRunFacets",
        access: "viewer",
        summary: "Count the values of fields of runs",
        description:
          "Of the runs that match all filters, which are those of `GET /runs`. A run counts for each of its tags."
      })
    )
  )
  .annotateMerge(tag("Search", "The search language of `q`, and saved views")) {}
