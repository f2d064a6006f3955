import * as PgClient from "@effect/sql-pg/PgClient"
import { chainVersionOf, RunId, Seal } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { type ColdErasable, ColdErasures } from "../../event-log/erasure/ColdErasures.ts"
import { foundRows, makeScrubber, type RunErasure } from "../../event-log/erasure/ErasureHooks.ts"
import { KEEP_OF_RUN } from "../../event-log/erasure/RunTexts.ts"
import { makeFiledTexts } from "./FiledTexts.ts"
import { UNTIL } from "./FileErasure.ts"
import { type ColdHead, ColdLog } from "./read/ColdLog.ts"

const MARK = "marks in files are not erased; delete the whole run to remove it"
const KEPT_COLUMNS = ["scenario_ref", "environment", "source_ref", "policy_version", "session_id"] as const

const decodeSeal = Schema.decodeUnknownEffect(Schema.fromJsonString(Seal))

/**
 * Erasures from runs that only files have: readers get the erased texts from the database at once, and compaction
 * writes them into the files (docs/reference/erasure.md#archive).
 */
const make = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const cold = yield* ColdLog
  const { keepRow, logOf } = yield* makeFiledTexts

  /** The texts of its row, and what stays in files. */
  const eraseRow = Effect.fnUntraced(function* (head: ColdHead, { at, finder, isDryRun, runId }: RunErasure) {
    const row = yield* cold.run(head)
    const scrubber = makeScrubber(finder, KEEP_OF_RUN)
    const [changed] = scrubber.changed([row], (of) => ({
      ...of,
      run: scrubber.json(of.run),
      tags: of.tags.filter((tag) => scrubber.text(tag) !== ""),
      error_message: scrubber.text(of.error_message),
      intent: scrubber.text(of.intent)
    }))
    if (!isDryRun) {
      yield* keepRow(head)
      if (changed !== undefined) {
        yield* sql`
          UPDATE archive_erased_runs SET run = ${changed.run}, tags = ${changed.tags}::text[],
                                         error_message = ${changed.error_message}, intent = ${changed.intent}
          WHERE run_id = ${runId}::uuid`
      }
      yield* sql`
        INSERT INTO archive_erasures (run_id, requested_at, run_created_at, first_seq, last_seq)
        VALUES (${runId}::uuid, ${at}::timestamptz, ${new Date(row.created_at).toISOString()}::timestamptz,
                ${BigInt(head.firstSeq)}, ${BigInt(head.lastSeq)})`
    }
    const marks = (yield* cold.marks(head)).filter(
      ({ category, comment, deleted_at, judge_name }) =>
        deleted_at === null && [category, comment, judge_name].some((text) => text !== null && finder(text))
    )
    const columns = KEPT_COLUMNS.filter((column) => finder(row[column] ?? ""))
    const found = foundRows("run", changed === undefined ? 0 : 1, scrubber.kept())
    return {
      ...found,
      remains: [
        ...found.remains,
        ...columns.map((column) => ({ of: "run", pointer: `/${column}`, why: "runs are found by it" })),
        ...marks.map(({ mark_id }) => ({ of: "mark", id: mark_id, why: MARK }))
      ],
      pending: { since: at, until: UNTIL }
    }
  })

  const all = Effect.map(
    sql<{ readonly id: string }>`
      SELECT a.run_id::text AS id FROM archive_runs a CROSS JOIN LATERAL (
        SELECT events, reason FROM run_tombstones WHERE run_id = a.run_id ORDER BY id DESC LIMIT 1
      ) AS t
      WHERE t.reason = 'expired' AND t.events = a.events AND NOT EXISTS (SELECT FROM runs r WHERE r.id = a.run_id)
      ORDER BY a.run_id`,
    (rows) => rows.map(({ id }) => RunId.make(id))
  )

  return ColdErasures.of({
    all,
    open: Effect.fn("ColdErasures.open")(function* (reference: string, lock: boolean) {
      const found = yield* cold.head(reference)
      if (found === undefined) return undefined
      if (lock) yield* sql`SELECT FROM archive_runs WHERE run_id = ${found.runId}::uuid FOR UPDATE`
      // Another erasure may have changed it before the lock.
      const head = lock ? yield* cold.head(reference) : found
      if (head === undefined) return undefined
      const row = yield* cold.run(head)
      const seal = row.seal === null ? undefined : yield* Effect.orDie(decodeSeal(row.seal))
      const erasable: ColdErasable = {
        ...{ runId: head.runId, status: head.status, log: logOf(head) },
        ...{ chain: seal === undefined ? 1 : chainVersionOf(seal), isSigned: seal?.keyId != null },
        erase: (erasure) => eraseRow(head, erasure)
      }
      return erasable
    })
  })
})

export const layer = Layer.effect(ColdErasures, make).pipe(Layer.provide(ColdLog.layer))
