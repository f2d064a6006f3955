import * as PgClient from "@effect/sql-pg/PgClient"
import {
  type BadRequest,
  badRequest,
  type Conflict,
  controlPlaneError,
  type Forbidden,
  MAX_MARK_DEFINITIONS,
  markDefinitionNotFound,
  markNameReserved,
  type NewMarkDefinition,
  type NotFound
} from "@runplane/api"
import { definitionProblem, isoTime, MarkDefinition, reservedDefinitions } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import { AuditTrail, type Caller } from "../platform/audit/AuditTrail.ts"
import { listPage, type TextPage } from "../platform/http/JsonAnswer.ts"
import { readBounded } from "../platform/postgres/BoundedRows.ts"
import { DatabaseClock } from "../platform/postgres/DatabaseClock.ts"

/** The definitions of marks (docs/reference/marks.md#definitions). Each change commits with its audit entry. */
export class MarkDefinitions extends Context.Service<
  MarkDefinitions,
  {
    /** A JSON array of definitions, read as the client receives it. */
    readonly list: Effect.Effect<TextPage<SqlError>, SqlError>
    readonly find: (name: string) => Effect.Effect<MarkDefinition | undefined, SqlError>
    readonly get: (name: string) => Effect.Effect<MarkDefinition, NotFound | SqlError>
    readonly put: (
      name: string,
      definition: NewMarkDefinition,
      caller: Caller
    ) => Effect.Effect<MarkDefinition, BadRequest | Conflict | Forbidden | SqlError>
    readonly remove: (name: string, caller: Caller) => Effect.Effect<void, Forbidden | SqlError>
  }
>()("runplane/control-plane/MarkDefinitions") {
  static readonly layer = Layer.effect(
    MarkDefinitions,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const audit = yield* AuditTrail
      const clock = yield* DatabaseClock
      const now = Effect.map(clock.now, isoTime)

      const record = (action: string, name: string, details: Schema.JsonObject, caller: Caller, at: string) =>
        audit.record({ caller, action: `mark.definition.${action}`, resource: "mark", resourceId: name, details, at })

      const requireFree = (name: string) =>
        reservedDefinitions.some((reserved) => reserved.name === name)
          ? Effect.fail(markNameReserved(name))
          : Effect.void

      const list = Effect.gen(function* () {
        const names = yield* sql<{ readonly name: string }>`SELECT name FROM mark_definitions ORDER BY name`
        const before = `[${reservedDefinitions.map((definition) => JSON.stringify(definition)).join(",")}`
        const read = (keys: ReadonlyArray<{ readonly name: string }>) =>
          readBounded<DefinitionRow>(sql, {
            keys: sql`${keys.map(({ name }) => name)}::text[]`,
            from: sql`mark_definitions`,
            isOf: (name) => sql`name = ${name}`,
            columns: sql`definition::text AS definition`,
            large: ["definition"]
          })
        return yield* listPage(names, read, ({ definition }) => definition, "]", before)
      }).pipe(Effect.withSpan("MarkDefinitions.list"))

      const find = Effect.fn("MarkDefinitions.find")(function* (name: string) {
        const reserved = reservedDefinitions.find((definition) => definition.name === name)
        if (reserved !== undefined) return reserved
        const [row] = yield* sql<DefinitionRow>`
          SELECT definition::text AS definition FROM mark_definitions WHERE name = ${name}`
        return row && decode(row.definition)
      })

      const get = Effect.fn("MarkDefinitions.get")(function* (name: string) {
        return (yield* find(name)) ?? (yield* markDefinitionNotFound(name))
      })

      const put = Effect.fn("MarkDefinitions.put")(function* (name: string, given: NewMarkDefinition, caller: Caller) {
        yield* requireFree(name)
        const problem = definitionProblem(given)
        if (problem !== undefined) return yield* badRequest(problem)
        const definition: MarkDefinition = { name, ...given, reserved: false }
        const at = yield* now
        const write = Effect.gen(function* () {
          const written = yield* sql`
            INSERT INTO mark_definitions (name, definition, updated_at)
            SELECT ${name}, ${JSON.stringify(definition)}::text::json, ${at}::timestamptz
            WHERE (SELECT count(*) FROM mark_definitions WHERE name <> ${name}) < ${MAX_MARK_DEFINITIONS}
            ON CONFLICT (name) DO UPDATE SET definition = excluded.definition, updated_at = excluded.updated_at
            RETURNING name`
          if (written.length === 0) {
            return yield* controlPlaneError(
              "CONFLICT",
              `there are ${MAX_MARK_DEFINITIONS} definitions of marks already`
            )
          }
          yield* record("put", name, { kind: definition.kind }, caller, at)
          return definition
        })
        return yield* sql.withTransaction(write)
      })

      const remove = Effect.fn("MarkDefinitions.remove")(function* (name: string, caller: Caller) {
        yield* requireFree(name)
        const at = yield* now
        const erase = Effect.gen(function* () {
          const removed = yield* sql`DELETE FROM mark_definitions WHERE name = ${name} RETURNING name`
          if (removed.length > 0) yield* record("delete", name, {}, caller, at)
        })
        yield* sql.withTransaction(erase)
      })
      return MarkDefinitions.of({ list, find, get, put, remove })
    })
  )
}

interface DefinitionRow {
  readonly definition: string
}

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(MarkDefinition))
