import * as PgClient from "@effect/sql-pg/PgClient"
import { Artifact } from "@runplane/api"
import type { RunId } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import { batchedWrites } from "../../platform/postgres/Batched.ts"
import { type BoundedRows, readBounded } from "../../platform/postgres/BoundedRows.ts"
import { unnestRows } from "../../platform/postgres/UnnestRows.ts"

/** Artifacts read from the database at a time; fewer when they are large. */
export const ARTIFACTS_PER_READ = 200

/** A position among the artifacts of a run: ordered by time and, within a millisecond, as they were stored. */
export interface ArtifactPosition {
  readonly createdAt: string
  readonly ordinal: bigint
}

/** A stored artifact as JSON text, with its position. */
export interface ArtifactText extends ArtifactPosition {
  readonly json: string
}

/** The artifacts of runs (docs/reference/runs.md#artifacts). */
export class ArtifactRepository extends Context.Service<
  ArtifactRepository,
  {
    /** Fails when the run has an artifact of the key. */
    readonly insert: (artifact: Artifact, idempotencyKey?: string) => Effect.Effect<void, SqlError>
    /** The artifact of a key of the run. */
    readonly byKey: (runId: RunId, idempotencyKey: string) => Effect.Effect<Artifact | undefined, SqlError>
    /** The next artifacts after a position, or the first ones, by createdAt, then as stored; bounded in bytes. */
    readonly page: (
      runId: RunId,
      after: ArtifactPosition | undefined,
      limit: number
    ) => Effect.Effect<BoundedRows<ArtifactText>, SqlError>
  }
>()("runplane/control-plane/ArtifactRepository") {
  static readonly layer = Layer.effect(
    ArtifactRepository,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient

      const insertAll = batchedWrites(sql, (artifacts: ReadonlyArray<KeyedArtifact>) => {
        const rows = artifacts.map(({ artifact, idempotencyKey }) => {
          const { createdAt, id, inline, kind, label, runId, uri } = artifact
          return {
            id,
            run_id: runId,
            kind,
            label,
            uri: uri ?? null,
            inline: inline === undefined ? null : JSON.stringify(inline),
            created_at: createdAt,
            idempotency_key: idempotencyKey ?? null
          }
        })
        return Effect.as(
          sql`
            INSERT INTO artifacts (id, run_id, kind, label, uri, inline, created_at, idempotency_key)
            SELECT id, run_id, kind, label, uri, inline, created_at, idempotency_key
            FROM ${unnestRows(sql, rows, ARTIFACT_COLUMNS, { ordinal: true })} AS a ORDER BY ordinal`,
          artifacts.map(() => true)
        )
      })
      const insert = Effect.fn("ArtifactRepository.insert")((artifact: Artifact, idempotencyKey?: string) =>
        Effect.asVoid(insertAll({ artifact, idempotencyKey }))
      )
      const byKey = Effect.fn("ArtifactRepository.byKey")(function* (runId: RunId, idempotencyKey: string) {
        const [row] = yield* sql<ArtifactRow>`
          SELECT id::text AS id, kind, label, uri, inline::text AS inline, created_at, ordinal
          FROM artifacts WHERE run_id = ${runId}::uuid AND idempotency_key = ${idempotencyKey}`
        return row && (yield* Effect.orDie(decodeArtifact(toText(runId, row).json)))
      })
      const page = Effect.fn("ArtifactRepository.page")(
        (runId: RunId, after: ArtifactPosition | undefined, limit: number) => {
          const behind =
            after === undefined
              ? sql`true`
              : sql`(created_at, ordinal) > (${after.createdAt}::timestamptz, ${after.ordinal})`
          const read = readBounded<ArtifactRow>(sql, {
            keys: sql`ARRAY(
              SELECT id FROM artifacts WHERE run_id = ${runId}::uuid AND ${behind}
              ORDER BY created_at, ordinal LIMIT ${limit})`,
            from: sql`artifacts`,
            isOf: (id) => sql`id = ${id}`,
            columns: sql`id::text AS id, kind, label, uri, inline::text AS inline, created_at, ordinal`,
            large: ["label", "uri", "inline"]
          })
          return Effect.map(read, (page) => ({ ...page, rows: page.rows.map((row) => toText(runId, row)) }))
        }
      )
      return ArtifactRepository.of({ insert, byKey, page })
    })
  )
}

const ARTIFACT_COLUMNS = {
  id: "uuid",
  run_id: "uuid",
  kind: "text",
  label: "text",
  uri: "text",
  inline: "json",
  created_at: "timestamptz",
  idempotency_key: "text"
} as const

interface KeyedArtifact {
  readonly artifact: Artifact
  readonly idempotencyKey: string | undefined
}

const decodeArtifact = Schema.decodeEffect(Schema.fromJsonString(Artifact))

interface ArtifactRow {
  readonly id: string
  readonly kind: string
  readonly label: string
  readonly uri: string | null
  readonly inline: string | null
  readonly created_at: Date
  readonly ordinal: bigint
}

const toText = (runId: RunId, { created_at, id, inline, kind, label, ordinal, uri }: ArtifactRow): ArtifactText => {
  const createdAt = created_at.toISOString()
  const head = JSON.stringify({ id, runId, kind, label, ...(uri !== null && { uri }) }).slice(0, -1)
  const content = inline === null ? "" : `,"inline":${inline}`
  return { createdAt, ordinal, json: `${head}${content},"createdAt":"${createdAt}"}` }
}
