import * as PgClient from "@effect/sql-pg/PgClient"
import { assert } from "@effect/vitest"
import {
  decodeEventText,
  emptyRunMetrics,
  measure,
  projectAll,
  type RunId,
  runFailed,
  textFinder,
  verifyExport
} from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { observed } from "../../../src/event-log/append/FrameBytes.ts"
import { EventLog } from "../../../src/event-log/EventLog.ts"
import { sha256 } from "../../../src/platform/Sha256.ts"
import { AT, COST, commits, opened, RISK, said, votes } from "../../support/Committee.ts"
import { call } from "../../support/HttpService.ts"
import { createRun, readLog } from "../../support/Runs.ts"
import { publishedKeys } from "../../support/SealTests.ts"

/** Runs about a person, and what is left of the person in a database. */

export const PERSON = "Jürgen Weißmüller"
export const REASON = "request 4711 of the person"

const utf8 = new TextEncoder()

/** An accepted message as the runtime sends it, whose payload has the person in its bytes. */
const envelope = (runId: RunId, messageId: string, text: string) =>
  observed(
    {
      kind: "stream-envelope",
      ambient: false,
      envelope: {
        macpVersion: "1.0",
        mode: "macp.mode.decision.v1",
        messageType: "ContextUpdate",
        messageId,
        sessionId: runId,
        sender: RISK,
        timestampUnixMs: 1,
        payload: utf8.encode(JSON.stringify({ note: text, encoded: Buffer.from(text).toString("base64") }))
      }
    },
    AT
  )

/** A run whose events, frames, metadata and tags are about the person. */
export const personLog = Effect.fnUntraced(function* (person: string = PERSON) {
  const log = yield* EventLog
  const runId = yield* createRun({
    metadata: { customer: person, note: `calls ${person.toUpperCase()} back`, executionRequest: { requester: "ops" } },
    tags: [`for ${person}`, "refund"]
  })
  yield* log.record({ runId, events: opened.filter(({ type }) => type !== "session.bound") })
  yield* log.observe({ runId, frames: [envelope(runId, "c1", `${person} waits`)], cursor: 0 })
  yield* log.record({
    runId,
    events: [
      said("proposal.created", "Proposal", RISK, { option: "refund", rationale: `${person} has paid twice` }),
      votes(RISK, "APPROVE"),
      said("proposal.updated", "Vote", COST, { vote: "REJECT", reason: JSON.stringify({ of: person }) }),
      commits
    ]
  })
  return runId
})

/** Ends a run with an error about the person. */
export const failRun = Effect.fnUntraced(function* (runId: RunId, person: string = PERSON) {
  const failure = { errorCode: "SESSION_EXPIRED", errorMessage: `no answer of ${person}` } as const
  yield* (yield* EventLog).change({
    ...{ runId, to: "failed", failure },
    events: (run, at) => [
      runFailed({
        ...{ ts: at, endedAt: at, runId: run.id, traceId: run.traceId, runtimeSessionId: run.runtimeSessionId },
        ...{ error: failure.errorMessage, errorCode: failure.errorCode }
      })
    ]
  })
})

/** The same with an artifact and a mark, and the failure unless it is to stay open. */
export const personRun = Effect.fnUntraced(function* (person: string = PERSON, isEnded = true) {
  const runId = yield* personLog(person)
  yield* call("POST", `/runs/${runId}/artifacts`, {
    body: { kind: "json", label: `letter to ${person}`, inline: { to: person, text: "we refund" } }
  })
  yield* call("POST", `/runs/${runId}/marks`, {
    body: { target: { kind: "run" }, name: "note", value: "late", comment: `${person} called`, source: "human" }
  })
  if (isEnded) yield* failRun(runId, person)
  return runId
})

/** A dry run of an erasure, and then what it planned. */
export const eraseText = Effect.fnUntraced(function* (runId: string, find: string = PERSON) {
  const planned = yield* call("POST", `/runs/${runId}/erasures`, { body: { find, reason: REASON, dryRun: true } })
  assert.strictEqual(planned.status, 200, planned.text)
  const erased = yield* call("POST", `/runs/${runId}/erasures`, {
    body: { find, reason: REASON, plan: planned.body.plan }
  })
  assert.strictEqual(erased.status, 200, erased.text)
  return { planned: planned.body, erased: erased.body }
})

/** The texts in the bytes of a row, which the database writes as hexadecimal digits. */
const bytesIn = (row: string): string =>
  [...row.matchAll(/\\x([0-9a-f]{2,})/g)].map(([, hex = ""]) => Buffer.from(hex, "hex").toString()).join(" ")

/** All values of all rows of all tables, as texts, by their tables; bytes are read as text and as base64. */
export const dumped = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const tables = yield* sql<{ readonly name: string }>`
    SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
    WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`
  const texts = yield* Effect.forEach(tables, ({ name }) =>
    Effect.map(sql<{ readonly text: string }>`SELECT t::text AS text FROM ${sql.literal(name)} AS t`, (rows) =>
      rows.map(({ text }) => ({ table: name, text: `${text} ${bytesIn(text)}` }))
    )
  )
  return texts.flat()
})

/** The rows of the database that have a text, plain, in base64 or behind escapes. */
export const rowsWith = (text: string) =>
  Effect.map(dumped, (rows) => {
    const isIn = textFinder(text)
    return rows.filter((row) => isIn(row.text)).map((row) => `${row.table}: ${row.text.slice(0, 300)}`)
  })

/** Both exports of a run, which must verify against the published keys. */
export const verifiedExports = Effect.fnUntraced(function* (runId: string) {
  const check = yield* publishedKeys
  const exports = []
  for (const format of ["json", "jsonl"]) {
    const { text } = yield* call("GET", `/runs/${runId}/export?format=${format}&includeRaw=true`)
    const verified = verifyExport(sha256, check, utf8.encode(text))
    assert.isTrue(verified.ok, verified.ok ? "" : `${format}: ${verified.why} ${verified.index ?? ""}`)
    exports.push({ text, verified })
  }
  return exports
})

/** The stored state and counters of a run are the fold of its events, byte for byte. */
export const assertFolded = Effect.fnUntraced(function* (runId: RunId) {
  const { events, projection } = yield* readLog(runId)
  const decoded = events.map(({ event }) => Result.getOrThrow(decodeEventText(event)))
  assert.strictEqual(projection?.state, JSON.stringify(projectAll(runId, decoded)))
  assert.strictEqual(projection?.metrics, JSON.stringify(decoded.reduce(measure, emptyRunMetrics(runId))))
})
