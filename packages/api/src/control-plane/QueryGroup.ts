import { about, Field } from "@runplane/domain"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Schema from "effect/Schema"
import { operation, tag } from "../openapi/Describe.ts"
import { querySchema } from "../validation/RequestSchema.ts"
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
    )
  )
  .annotateMerge(tag("Search", "The search language of `q`, and saved views")) {}
