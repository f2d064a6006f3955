import { about, Field, isOfForm, isOneLine } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { mayUse, type Role } from "../../caller/Access.ts"
import { withDefault } from "../../validation/Fields.ts"
import { querySchema } from "../../validation/RequestSchema.ts"
import { type QueryResource, queryResources } from "../query/QueryFields.ts"
import { runSortKeys } from "../runs/RunRequests.ts"

const optional = Schema.optionalKey

export const MAX_VIEWS = 1_000
/** Characters. */
export const MAX_VIEW_NAME = 200
export const MAX_VIEW_QUERY = 2_000
export const MAX_VIEW_COLUMNS = 50
export const MAX_COLUMN_NAME = 100

const sorts = runSortKeys.flatMap((key) => [`${key} asc`, `${key} desc`] as const)
const markSort = Schema.TemplateLiteral(["mark.", Schema.String]).check(
  isOfForm(/^mark\.[A-Za-z][A-Za-z0-9_-]{0,63} (asc|desc)$/)
)

const Resource = Schema.Literals(queryResources).annotate(about("What it lists", "runs"))
const name = Field.text("Name for readers, one of each resource", "Expensive and declined").check(
  Schema.isMinLength(1),
  Schema.isMaxLength(MAX_VIEW_NAME)
)
const q = Field.text("The search, over the fields of the resource; may be empty", "outcome:negative cost:>0.5").check(
  Schema.isMaxLength(MAX_VIEW_QUERY)
)
/** As callers may send it. */
const newName = name.check(isOneLine)
const columns = Schema.Array(Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(MAX_COLUMN_NAME)))
  .annotate(about("What is shown of each entry; empty for what is usual", ["status", "duration", "cost"]))
  .check(Schema.isMaxLength(MAX_VIEW_COLUMNS))
const sort = Schema.Union([...sorts.map((text) => Schema.Literal(text)), markSort]).annotate(
  about("Order of a list of runs", "cost desc")
)

const isPrivate = Field.flag("True for a view that only its owner lists")

/** A saved view (docs/reference/search.md#views). */
export const View = Schema.Struct({
  id: Field.text("Id of the view: UUID", "0197c0de-6f0a-7c53-9a56-0d9c6f5f7a10"),
  name,
  resource: Resource,
  q,
  columns,
  sort: optional(sort),
  owner: Field.text("Who saved it; system for the views that come with the product", "key:5e884898"),
  ownerName: optional(Field.text("`user:` and the name in the token of who saved it, for readers", "user:ann")),
  private: optional(isPrivate),
  readOnly: Field.flag("True for the views that come with the product"),
  createdAt: optional(Field.time("When it was saved; absent for the views of the product")),
  updatedAt: optional(Field.time("When it was last changed; absent for the views of the product"))
}).annotate({ identifier: "View", description: "A search with a name, and how its matches are shown" })
export type View = typeof View.Type

/** Whether a caller may change or remove a saved view: its owner and administrators may. `id` is that of its actor. */
export const mayChangeView = (id: string, role: Role, { owner, readOnly }: Pick<View, "owner" | "readOnly">): boolean =>
  !readOnly && mayUse(role, owner === id ? "operator" : "admin")

/** The body of `POST /views`. */
export const NewView = Schema.Struct({
  name: newName,
  resource: Resource,
  q: withDefault(q, ""),
  columns: withDefault(columns, []),
  sort: optional(sort),
  private: withDefault(isPrivate, false)
}).annotate({ identifier: "ViewRequest", description: "A view to be saved" })
export type NewView = typeof NewView.Type

/** The body of `PATCH /views/:id`: any subset; what a view lists does not change. */
export const ViewChange = Schema.Struct({
  name: optional(newName),
  q: optional(q),
  columns: optional(columns),
  sort: optional(sort),
  private: optional(isPrivate)
}).annotate({ identifier: "ViewChange", description: "What to change" })
export type ViewChange = typeof ViewChange.Type

export const viewsQuery = querySchema({ resource: optional(Resource) })
export type ViewsQuery = typeof viewsQuery.Type

const system = (number: number, resource: QueryResource, name: string, q: string, more: Partial<View> = {}): View => ({
  id: `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`,
  name,
  resource,
  q,
  columns: [],
  ...more,
  owner: "system",
  readOnly: true
})

/** The views that come with the product. Their ids never change. */
export const systemViews: ReadonlyArray<View> = [
  system(1, "runs", "Active", "status:(queued,starting,binding_session,running,suspended)"),
  system(2, "runs", "Failed", "status:failed"),
  system(3, "runs", "Declined", "status:completed outcome:negative"),
  system(4, "runs", "Refusals on record", "event:policy.denied"),
  // The top tenth of their scenario.
  system(5, "runs", "Expensive", "costRank:>=0.9", { sort: "cost desc" }),
  system(6, "runs", "Slow", "durationRank:>=0.9", { sort: "duration desc" }),
  system(7, "events", "Ends of runs", "type:(run.completed,run.failed,run.cancelled)"),
  system(8, "events", "Decisions", "type:decision.finalized"),
  system(9, "events", "Refusals on record", "type:policy.denied"),
  system(10, "audit", "Deletions", "action:(run.delete,policy.delete,webhook.delete,view.delete)"),
  system(11, "audit", "Refused", "outcome:refused")
]
