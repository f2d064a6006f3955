import * as PgClient from "@effect/sql-pg/PgClient"
import type { RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { EvidencePart } from "../../../platform/http/EvidenceParts.ts"
import { type FiringRow, firingColumns, toFiring } from "../AlertRows.ts"

/** Firings of one read. */
const PER_READ = 200

/** The firings that an event of the run has opened, the oldest first, as they are served. */
export const makeAlertEvidence = Effect.map(PgClient.PgClient, (sql): EvidencePart => {
  const page = (runId: RunId, offset: number) => sql<FiringRow>`
    SELECT ${firingColumns(sql)} FROM alert_firings f WHERE f.run_id = ${runId}::uuid
    ORDER BY f.starts_at, f.id LIMIT ${BigInt(PER_READ)} OFFSET ${BigInt(offset)}`
  return {
    file: "alerts.jsonl",
    lines: (runId) =>
      Stream.paginate(0, (offset) =>
        Effect.map(page(runId, offset), (rows) => [
          [rows.map((row) => JSON.stringify(toFiring(row)))],
          rows.length < PER_READ ? Option.none() : Option.some(offset + PER_READ)
        ])
      )
  }
})
