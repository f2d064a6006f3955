import { randomUUID } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert } from "@effect/vitest"
import { RunId, type SessionSnapshot } from "@runplane/domain"
import { RuntimeFake } from "@runplane/runtime/testing"
import * as Effect from "effect/Effect"
import { call, descriptor } from "./HttpService.ts"
import { assertLogIsExact } from "./LogChecks.ts"
import { awaitStatus } from "./Observation.ts"

type Metadata = Readonly<Record<string, unknown>>

/** A run whose observer waits for its initiator. */
export const unboundRun = Effect.fnUntraced(function* (metadata: Metadata = {}) {
  const { body } = yield* call("POST", "/runs", { body: descriptor({ session: { metadata } }) })
  const runId = RunId.make(body.runId)
  yield* awaitStatus(runId, "starting")
  return runId
})

/** A run whose session is open and observed. */
export const runningRun = Effect.fnUntraced(function* (
  metadata: Metadata = {},
  policyVersion = "policy.default",
  session: Partial<SessionSnapshot> = {},
  headers: Readonly<Record<string, string>> = {}
) {
  const runId = RunId.make(randomUUID())
  const fake = yield* RuntimeFake
  yield* fake.openSession({
    sessionId: runId,
    participants: ["agent://lead", "agent://risk"],
    initiator: "agent://lead",
    policyVersion,
    ...session
  })
  yield* fake.accept(runId, { messageType: "SessionStart" })
  yield* call("POST", "/runs", { body: descriptor({ session: { sessionId: runId, metadata } }), headers })
  yield* awaitStatus(runId, "running")
  return runId
})

export const post = (runId: string, action: string, body?: unknown) =>
  call("POST", `/runs/${runId}/${action}`, { body })
export const statusOf = (runId: string) => Effect.map(call("GET", `/runs/${runId}`), ({ body }) => body.status)

/** What the audit log says of a run, the oldest entry first: the actions, and with `outcomes` what became of each. */
export const auditOf = Effect.fnUntraced(function* (runId: string, outcomes = false) {
  const sql = yield* PgClient.PgClient
  const rows = yield* sql<{ readonly action: string; readonly outcome: string }>`
    SELECT action, details ->> 'outcome' AS outcome FROM audit_log WHERE resource_id = ${runId}
    ORDER BY created_at, ordinal`
  return rows.map(({ action, outcome }) => (outcomes ? `${action} ${outcome}` : action))
})

export const eventsOf = Effect.fnUntraced(function* (runId: RunId, type: string) {
  const log = yield* assertLogIsExact(runId)
  return log.decoded.filter((event) => event.type === type)
})

const ENDS: Readonly<Record<string, string>> = {
  "run.completed": "completed",
  "run.failed": "failed",
  "run.cancelled": "cancelled"
}

/** The log is exact and says once how the run ended; the run's record says the same. Answers that status. */
export const assertEndedOnce = Effect.fnUntraced(function* (runId: RunId) {
  const log = yield* assertLogIsExact(runId)
  const ends = log.decoded.flatMap(({ type }) => ENDS[type] ?? [])
  assert.lengthOf(ends, 1, `ended as ${ends.join(", ")}`)
  assert.strictEqual(log.head?.status, ends[0])
  return log.head?.status
})

/** Suspensions and resumptions in the log take turns, beginning with a suspension. */
export const assertPausesAlternate = Effect.fnUntraced(function* (runId: RunId) {
  const log = yield* assertLogIsExact(runId)
  const pauses = log.decoded.flatMap(({ type }) => (type === "run.suspended" || type === "run.resumed" ? [type] : []))
  const turns = pauses.map((_, position) => (position % 2 === 0 ? "run.suspended" : "run.resumed"))
  assert.deepStrictEqual(pauses, turns)
  return pauses.length
})
