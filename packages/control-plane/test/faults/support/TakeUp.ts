import { randomUUID } from "node:crypto"
import { assert } from "@effect/vitest"
import { createDatabase, request, until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { postRun } from "../../support/HttpService.ts"
import { ScriptedRuntime } from "../../support/ScriptedRuntime.ts"
import { startService } from "./ServiceProcess.ts"

const HOUR_MS = "3600000"

/** Milliseconds from the start of a process that has these open sessions to adopt. */
export interface Restart {
  readonly healthy: number
  /** What `/readyz` said of the recovery when `/healthz` had been answered. */
  readonly recovery: string | undefined
  readonly observed: number
}

/**
 * Kills a process that observes that many open sessions, and starts another instead. Every session is observed
 * again in the end.
 */
export const restartWith = Effect.fnUntraced(function* (runs: number) {
  const runtime = yield* ScriptedRuntime.start
  const environment = {
    DATABASE_URL: yield* createDatabase,
    RUNTIME_ADDRESS: runtime.address,
    THROTTLE_LIMIT: "1000000",
    STREAM_IDLE_TIMEOUT_MS: HOUR_MS
  }
  const sessions = Array.from({ length: runs }, () => randomUUID())
  const open = () => sessions.filter((id) => runtime.open.get(id) === 1).length
  for (const id of sessions) runtime.openSession(id, 10)

  const first = yield* startService(environment)
  const url = yield* first.url
  yield* Effect.forEach(sessions, (id) => postRun(url, id), { concurrency: 16, discard: true })
  yield* until(Effect.sync(open), (count) => count === runs)
  yield* first.kill("SIGKILL")
  yield* until(Effect.sync(open), (count) => count === 0)

  const started = performance.now()
  const second = yield* startService(environment)
  const again = yield* second.url
  assert.strictEqual((yield* request("GET", `${again}/healthz`)).status, 200)
  const healthy = performance.now() - started
  const { body } = yield* until(
    request("GET", `${again}/readyz`),
    ({ body: { checks } }) => checks.recovery === undefined || /of/.test(checks.recovery)
  )
  const recovery: string | undefined = body.checks.recovery
  yield* until(Effect.sync(open), (count) => count === runs)
  const observed = performance.now() - started
  yield* until(
    request("GET", `${again}/readyz`),
    ({ body }) => body.status === "ok" && body.checks.recovery === undefined
  )
  const found: Restart = { healthy, recovery, observed }
  return found
})
