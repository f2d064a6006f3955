import * as PgClient from "@effect/sql-pg/PgClient"
import { type ErasureEntry, type RunId, storedSalts } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { enteredBehind, type RewrittenText, type TextLog } from "../../event-log/erasure/ErasableLog.ts"
import type { SaltedText } from "../../event-log/erasure/SaltedTexts.ts"
import { decodeAppendix } from "../../event-log/seal/RunErasures.ts"
import { insertPending } from "../../platform/ledger/PendingEntries.ts"
import { SealKeys } from "../../platform/ledger/SealKeys.ts"
import { unnestRows } from "../../platform/postgres/UnnestRows.ts"
import { type ColdHead, ColdLog, type FiledEvent } from "./read/ColdLog.ts"

const utf8 = new TextEncoder()
const decodeText = new TextDecoder()

/** The texts of runs that only files have: erased ones are in the database until the files have them. */
export const makeFiledTexts = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const cold = yield* ColdLog
  const { current: key } = yield* SealKeys

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

  const logOf = (head: ColdHead): TextLog => {
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

  return { keepRow, logOf } as const
})

const toText = ({ event, index, salts, seq }: FiledEvent): SaltedText => ({
  ...{ seq, index, bytes: utf8.encode(event), salts: storedSalts(salts) ?? {} }
})

const eventRow = ({ bytes, salts, seq }: RewrittenText) => ({
  ...{ seq, event: decodeText.decode(bytes), salts: JSON.stringify(salts) }
})
