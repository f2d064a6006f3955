import * as PgClient from "@effect/sql-pg/PgClient"
import { ErasureAppendix, ErasureEntry, ErasuresHead, erasuresNext, erasuresStart, type RunId } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import { sha256 } from "../../platform/Sha256.ts"

/** The erasures of runs as exports have them (docs/reference/seal-format.md#erasures). */
export class RunErasures extends Context.Service<
  RunErasures,
  {
    /** Undefined for a run of which nothing was erased. One statement reads all of it, so it is of one moment. */
    readonly appendix: (runId: RunId) => Effect.Effect<ErasureAppendix | undefined, SqlError>
  }
>()("runplane/control-plane/RunErasures") {
  static readonly layer = Layer.effect(
    RunErasures,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const appendix = Effect.fn("RunErasures.appendix")(function* (runId: RunId) {
        const [row] = yield* sql<ErasuresRow>`SELECT ${erasuresColumn(sql, "e.run_id")} FROM run_erasure_ends e
          WHERE e.run_id = ${runId}::uuid`
        return row && appendixOf(runId, row.erasures)
      })
      return RunErasures.of({ appendix })
    })
  )
}

export interface ErasuresRow {
  /** JSON; null for a run of which nothing was erased. */
  readonly erasures: string | null
}

/** The erasures of the run that an expression names, as the column `erasures`, which `appendixOf` reads. */
export const erasuresColumn = (sql: PgClient.PgClient, runId: string) => sql`
  (SELECT json_build_object(
     'entries', (SELECT coalesce(json_agg(json_build_object(
                   'target', entry.target, 'index', entry.index, 'pointer', entry.pointer, 'digest', entry.digest,
                   'at', to_char(entry.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                   'by', entry.by, 'reason', entry.reason) ORDER BY entry.position), '[]')
                 FROM run_erasures entry WHERE entry.run_id = ended.run_id AND entry.position <= ended.entries),
     'head', json_build_object('runId', ended.run_id, 'entries', ended.entries, 'head', ended.head,
                               'keyId', ended.key_id, 'signature', ended.signature))::text
   FROM run_erasure_ends ended WHERE ended.run_id = ${sql.literal(runId)} AND ended.entries > 0) AS erasures`

const decodeStored = Schema.decodeUnknownSync(
  Schema.fromJsonString(Schema.Struct({ entries: Schema.Array(ErasureEntry), head: ErasuresHead }))
)

/** The appendix of a run, each entry with the head before it. */
export const appendixOf = (runId: string, stored: string | null): ErasureAppendix | undefined => {
  if (stored === null) return undefined
  const { entries, head } = decodeStored(stored)
  let previous = erasuresStart(sha256, runId)
  const exported = entries.map((entry, at) => {
    const position = at + 1
    const before = Hex.encode(previous)
    previous = erasuresNext(sha256, previous, position, entry)
    return { position, previous: before, ...entry }
  })
  return { entries: exported, head }
}

/** The appendix as a file of the archive has it. */
export const decodeAppendix = Schema.decodeUnknownEffect(Schema.fromJsonString(ErasureAppendix))
