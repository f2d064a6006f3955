import * as PgClient from "@effect/sql-pg/PgClient"
import {
  type BadRequest,
  badRequest,
  type Conflict,
  ControlPlaneApi,
  controlPlaneError,
  type Forbidden,
  MAX_VIEWS,
  mayChangeView,
  type NewView,
  type NotFound,
  type QueryResource,
  queryFields,
  systemViews,
  type View,
  type ViewChange,
  View as ViewSchema,
  viewNameTaken,
  viewNotFound,
  viewOfAnother,
  viewReadOnly
} from "@runplane/api"
import { parseQuery } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { AuditTrail, type Caller } from "../../platform/audit/AuditTrail.ts"
import { asCaller } from "../../platform/http/CurrentCaller.ts"
import { jsonPages, listPage, type TextPage } from "../../platform/http/JsonAnswer.ts"
import { type RowId, rowsOfIds } from "../../platform/http/ListPage.ts"
import { Ids } from "../../platform/Ids.ts"
import { isoNow } from "../../platform/IsoNow.ts"

/** The endpoints of saved views (docs/reference/search.md#views). */
export const ViewsHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "views",
  Effect.fnUntraced(function* (handlers) {
    const views = yield* Views
    return handlers.handleAll({
      list: ({ query }) => asCaller((caller) => Effect.map(views.list(query.resource, caller), jsonPages)),
      create: ({ payload }) => asCaller((caller) => views.create(payload, caller)),
      update: ({ params, payload }) => asCaller((caller) => views.update(params.id, payload, caller)),
      remove: ({ params }) => asCaller((caller) => views.remove(params.id, caller))
    })
  })
)

/**
 * Saved views (docs/reference/search.md#views). Their owner and administrators change them; every change commits with
 * its audit entry.
 */
export class Views extends Context.Service<
  Views,
  {
    /** A JSON array of the views that the caller may see, read as the client receives it. */
    readonly list: (resource: QueryResource | undefined, caller: Caller) => Effect.Effect<TextPage<SqlError>, SqlError>
    readonly create: (view: NewView, caller: Caller) => Effect.Effect<View, BadRequest | Conflict | SqlError>
    readonly update: (
      id: string,
      change: ViewChange,
      caller: Caller
    ) => Effect.Effect<View, BadRequest | Conflict | Forbidden | NotFound | SqlError>
    readonly remove: (id: string, caller: Caller) => Effect.Effect<void, Forbidden | SqlError>
  }
>()("runplane/control-plane/Views") {
  static readonly layer = Layer.effect(
    Views,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const audit = yield* AuditTrail
      const ids = yield* Ids
      const now = isoNow
      const columns = sql`id::text AS id, name, resource, q, columns, sort, owner, owner_name, is_private, created_at, updated_at`

      const record = (action: string, { id, name }: Pick<View, "id" | "name">, caller: Caller, at: string) =>
        audit.record({ caller, action: `view.${action}`, resource: "view", resourceId: id, details: { name }, at })

      const requireWritable = (id: string) => {
        const system = systemViews.find((view) => view.id === id)
        return system === undefined ? Effect.void : Effect.fail(viewReadOnly(system.name))
      }

      const requireOwn = (view: View, { actor: { actorId, role } }: Caller) =>
        mayChangeView(actorId, role, view) ? Effect.void : Effect.fail(viewOfAnother(view.name))

      const requireReadable = ({ q, resource, sort }: Pick<NewView, "q" | "resource" | "sort">) => {
        if (sort !== undefined && resource !== "runs") return Effect.fail(badRequest("sort is for views of runs"))
        return Result.match(parseQuery(q, queryFields[resource]), {
          onSuccess: () => Effect.void,
          onFailure: ({ message }) => Effect.fail(badRequest(`q ${message}`))
        })
      }

      const named = <A, E, R>(name: string, write: Effect.Effect<A, E | SqlError, R>) =>
        Effect.catchIf(
          write,
          (error) => isNameTaken(error),
          () => Effect.fail(viewNameTaken(name))
        )

      const read = rowsOfIds<ViewRow>(sql, { from: sql`views`, columns, large: ["name", "q", "columns"] })

      /** A view that the caller may see, locked. The private views of others are as views that do not exist. */
      const lock = (id: string, { actor: { actorId } }: Caller) =>
        Effect.map(
          sql<ViewRow>`
            SELECT ${columns} FROM views
            WHERE id = ${id}::uuid AND (NOT is_private OR owner = ${actorId}) FOR UPDATE`,
          ([row]) => row && toView(row)
        )

      const list = Effect.fn("Views.list")(function* (resource: QueryResource | undefined, { actor }: Caller) {
        const saved = yield* sql<RowId>`
          SELECT id::text AS id FROM views
          WHERE (${resource ?? null}::text IS NULL OR resource = ${resource ?? null})
            AND (NOT is_private OR owner = ${actor.actorId})
          ORDER BY resource, name`
        const ours = systemViews.filter((view) => resource === undefined || view.resource === resource)
        const before = `[${ours.map((view) => JSON.stringify(view)).join(",")}`
        const ids = saved.map(({ id }) => id)
        return yield* listPage(ids, read, (row) => JSON.stringify(toView(row)), "]", before)
      })

      const create = Effect.fn("Views.create")(function* (view: NewView, caller: Caller) {
        yield* requireReadable(view)
        const id = yield* ids.uuid
        const at = yield* now
        const insert = Effect.gen(function* () {
          const [row] = yield* sql<ViewRow>`
            INSERT INTO views (id, name, resource, q, columns, sort, owner, owner_name, is_private, created_at,
                               updated_at)
            SELECT ${id}::uuid, ${view.name}, ${view.resource}, ${view.q}, ${view.columns}::text[], ${view.sort ?? null},
                   ${caller.actor.actorId}, ${caller.actor.name ?? null}, ${view.private}, ${at}::timestamptz, ${at}::timestamptz
            WHERE (SELECT count(*) FROM views) < ${MAX_VIEWS}
            RETURNING ${columns}`
          if (row === undefined) return yield* controlPlaneError("CONFLICT", `there are ${MAX_VIEWS} views already`)
          yield* record("create", { id, name: view.name }, caller, at)
          return toView(row)
        })
        return yield* named(view.name, sql.withTransaction(insert))
      })

      const update = Effect.fn("Views.update")(function* (id: string, change: ViewChange, caller: Caller) {
        yield* requireWritable(id)
        const at = yield* now
        const apply = Effect.gen(function* () {
          const found = yield* lock(id, caller)
          if (found === undefined) return yield* viewNotFound(id)
          yield* requireOwn(found, caller)
          const changed = { ...found, ...change }
          yield* requireReadable(changed)
          yield* sql`
            UPDATE views SET name = ${changed.name}, q = ${changed.q}, columns = ${changed.columns}::text[],
                             sort = ${changed.sort ?? null}, is_private = ${changed.private ?? false}, updated_at = ${at}::timestamptz
            WHERE id = ${id}::uuid`
          yield* record("update", changed, caller, at)
          return { ...changed, updatedAt: at }
        })
        return yield* named(change.name ?? "", sql.withTransaction(apply))
      })

      const remove = Effect.fn("Views.remove")(function* (id: string, caller: Caller) {
        yield* requireWritable(id)
        const at = yield* now
        const apply = Effect.gen(function* () {
          const found = yield* lock(id, caller)
          if (found === undefined) return
          yield* requireOwn(found, caller)
          yield* sql`DELETE FROM views WHERE id = ${id}::uuid`
          yield* record("delete", found, caller, at)
        })
        yield* sql.withTransaction(apply)
      })
      return Views.of({ list, create, update, remove })
    })
  )
}

const NAME_KEYS: ReadonlySet<string | undefined> = new Set(["views_name_key", "views_private_name_key"])

const isNameTaken = (error: unknown): boolean =>
  isSqlError(error) && error.reason._tag === "UniqueViolation" && NAME_KEYS.has(error.reason.constraint)

interface ViewRow {
  readonly id: string
  readonly name: string
  readonly resource: QueryResource
  readonly q: string
  readonly columns: ReadonlyArray<string>
  readonly sort: string | null
  readonly owner: string
  readonly owner_name: string | null
  readonly is_private: boolean
  readonly created_at: Date
  readonly updated_at: Date
}

const isSort = Schema.is(ViewSchema.fields.sort)

const toView = ({
  created_at,
  id,
  is_private,
  name,
  owner,
  owner_name,
  q,
  resource,
  sort,
  updated_at,
  ...row
}: ViewRow): View => ({
  id,
  name,
  resource,
  q,
  columns: row.columns,
  ...(isSort(sort) && { sort }),
  owner,
  ...(owner_name !== null && { ownerName: owner_name }),
  private: is_private,
  readOnly: false,
  createdAt: created_at.toISOString(),
  updatedAt: updated_at.toISOString()
})
