import * as PgClient from "@effect/sql-pg/PgClient"
import { assert } from "@effect/vitest"
import {
  type ErasureEntry,
  erasedEvent,
  erasuresNext,
  erasuresStart,
  eventBytes,
  eventErasure,
  makeErasuresHead,
  type RunId,
  type Signer,
  servedEvent,
  storedSalts
} from "@runplane/domain"
import * as Effect from "effect/Effect"
import { sha256 } from "../../../src/platform/Sha256.ts"
import { readLog } from "../../support/Runs.ts"

const ERASED = { at: "2026-09-01T08:00:00.000Z", by: "key:1", reason: "request of the person" }

/** The position of the first event whose text has a part. */
export const indexOf = Effect.fnUntraced(function* (runId: RunId, part: string) {
  const { events } = yield* readLog(runId)
  return events.findIndex(({ event }) => event.includes(part)) + 1
})

/** Erases members of an event in the rows: as the service with its key, or as a writer of the database without it. */
export const eraseMembers = Effect.fnUntraced(function* (
  runId: RunId,
  index: number,
  pointers: ReadonlyArray<string>,
  signer: Signer | undefined
) {
  const sql = yield* PgClient.PgClient
  const row = (yield* readLog(runId)).events[index - 1]
  let { erased, text } = servedEvent(eventBytes(row?.event ?? ""))
  let salts = storedSalts(row?.salts ?? null)
  let head = erasuresStart(sha256, runId)
  for (const [at, pointer] of pointers.entries()) {
    const erasure = salts === undefined ? undefined : eventErasure(sha256, text, salts, pointer)
    if (erasure === undefined) return assert.fail(`not erasable: ${pointer}`)
    const entry: ErasureEntry = { target: "event", index, pointer, digest: erasure.digest, ...ERASED }
    head = erasuresNext(sha256, head, at + 1, entry)
    salts = erasure.salts
    erased = [...erased, { pointer, at: ERASED.at, reason: ERASED.reason }]
    yield* sql`
      INSERT INTO run_erasures (run_id, position, target, index, pointer, digest, at, by, reason, head)
      VALUES (${runId}::uuid, ${at + 1}, 'event', ${index}, ${pointer}, ${entry.digest}, ${entry.at}::timestamptz,
              ${entry.by}, ${entry.reason}, ${Buffer.from(head).toString("hex")})`
  }
  const end = makeErasuresHead(runId, pointers.length, head, signer)
  const served = Buffer.from(erasedEvent(text, erased) ?? "").toString()
  yield* writeEvent(runId, index, served, JSON.stringify(salts))
  yield* sql`
    INSERT INTO run_erasure_ends (run_id, entries, head, key_id, signature)
    VALUES (${runId}::uuid, ${end.entries}, ${end.head}, ${end.keyId}, ${end.signature})`
})

/** Writes the text and the salts of an event. */
export const writeEvent = Effect.fnUntraced(function* (runId: RunId, index: number, event: string, salts: string) {
  const sql = yield* PgClient.PgClient
  yield* sql`
    UPDATE canonical_events SET event = ${event}::text::json, seed = NULL, salts = ${salts}::text::json
    WHERE run_id = ${runId}::uuid AND index = ${index}`
})
