import * as PgClient from "@effect/sql-pg/PgClient"
import { chainVersionOf, type ErasureEntry, type RunId, Seal, storedSalts } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { type ColdErasable, ColdErasures } from "../../event-log/erasure/ColdErasures.ts"
import { enteredBehind, type RewrittenText, type TextLog } from "../../event-log/erasure/ErasableLog.ts"
import { foundRows, makeScrubber, type RunErasure } from "../../event-log/erasure/ErasureHooks.ts"
import { KEEP_OF_RUN } from "../../event-log/erasure/RunTexts.ts"
import type { SaltedText } from "../../event-log/erasure/SaltedTexts.ts"
import { decodeAppendix } from "../../event-log/seal/RunErasures.ts"
import { insertPending } from "../../platform/ledger/PendingEntries.ts"
import { SealKeys } from "../../platform/ledger/SealKeys.ts"
import { unnestRows } from "../../platform/postgres/UnnestRows.ts"
import { UNTIL } from "./FileErasure.ts"
import { type ColdHead, ColdLog } from "./read/ColdLog.ts"

const MARK = "marks in files are not erased; delete the whole run to remove it"
const KEPT_COLUMNS = ["scenario_ref", "environment", "source_ref", "policy_version", "session_id"] as const

const utf8 = new TextEncoder()
const decodeText = new TextDecoder()
const decodeSeal = Schema.decodeUnknownEffect(Schema.fromJsonString(Seal))

/**
 * Erasures from runs that only files have: readers get the erased texts from the database at once, and compaction
 * writes them into the files (docs/reference/erasure.md#archive).
 */
const make = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const cold = yield* ColdLog
  const { current: key } = yield* SealKeys

  const logOf = (head: ColdHead): TextLog => {
    const toText = ({
      event,
      index,
      salts,
      seq
    }: {
      readonly event: string
      readonly index: number
      readonly salts: string | null
      readonly seq: number
    }): SaltedText => ({
      ...{ seq, index, bytes: utf8.encode(event), salts: storedSalts(salts) ?? {} }
    })
    const pages = Effect.fnUntraced(function* <E, R>(
      use: (page: ReadonlyArray<SaltedText>) => Effect.Effect<void, E, R>
    ) {
      let after = 0
      while (true) {
        const page = yield* cold.events(head, after)
        const last = page.at(-1)
        if (last === undefined) return
        yield* use(page.map(toText))
        after = last.seq
      }
    })
    return {
      eachEvent: (_, take) =>
        pages((page) =>
          Effect.sync(() => {
            for (const event of page) take(event)
          })
        ),
      // Files have no raw frames.
      eachFrame: () => Effect.void,
      eachAt: Effect.fnUntraced(function* (target, _, indexes, use) {
        if (target === "frame") return indexes[0]
        const wanted = new Set(indexes)
        yield* pages((page) => {
          const found = page.filter(({ index }) => wanted.delete(index))
          return found.length === 0 ? Effect.void : use(found)
        })
        return [...wanted][0]
      }),
      writeEvents: (runId, rows) => sql`
        INSERT INTO archive_erased_events (seq, run_id, event, salts)
        SELECT seq, ${runId}::uuid, event, salts
        FROM ${unnestRows(sql, rows.map(eventRow), { seq: "bigint", event: "json", salts: "json" })} AS c
        ON CONFLICT (seq) DO UPDATE SET event = excluded.event, salts = excluded.salts`,
      writeFrames: () => Effect.void,
      enter: (runId, entries) => enter(head, runId, entries)
    }
  }

  /** The row as readers get it now, stored so that it can be changed. */
  const keepRow = Effect.fnUntraced(function* (head: ColdHead) {
    const { erasures, error_message, intent, run, tags } = yield* cold.run(head)
    yield* sql`
      INSERT INTO archive_erased_runs (run_id, version, run, tags, error_message, intent, erasures)
      VALUES (${head.runId}::uuid, ${BigInt(head.version)}, ${run}, ${tags}::text[], ${error_message}, ${intent}, ${erasures})
      ON CONFLICT (run_id) DO NOTHING`
    return { erasures, error_message, intent, run, tags }
  })

  const enter = Effect.fnUntraced(function* (head: ColdHead, runId: RunId, entries: ReadonlyArray<ErasureEntry>) {
    const { erasures } = yield* keepRow(head)
    const before = erasures === null ? undefined : yield* Effect.orDie(decodeAppendix(erasures))
    const { entered, pending, signed } = enteredBehind(runId, before?.head, entries, key)
    const appended = entered.map(({ entry, position, previous }) => ({ position, previous, ...entry }))
    const appendix = { entries: [...(before?.entries ?? []), ...appended], head: signed }
    yield* sql`
      UPDATE archive_erased_runs SET erasures = ${JSON.stringify(appendix)} WHERE run_id = ${runId}::uuid`
    yield* insertPending(sql, [pending])
  })

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

  return ColdErasures.of({
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

const eventRow = ({ bytes, salts, seq }: RewrittenText) => ({
  ...{ seq, event: decodeText.decode(bytes), salts: JSON.stringify(salts) }
})
