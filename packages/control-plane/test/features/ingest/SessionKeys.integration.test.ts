import { randomBytes, randomUUID } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { runOfKey } from "../../../src/features/ingest/TraceRuns.ts"
import { ObservedRuns } from "../../../src/observe/ObservedRuns.ts"
import { call, descriptor, layerTestService } from "../../support/HttpService.ts"
import { exportOf, post, span } from "./support/Exports.ts"

const settings = {
  AUTH_API_KEYS: "agents-key,admin-key",
  AUTH_API_KEY_NAMES: "agents,admin",
  AUTH_API_KEY_ROLES: "ingest,admin",
  OTLP_SETTLE_MS: "200"
}
const by = (key: string) => ({ headers: { "content-type": "application/json", "x-api-key": key } })
const admin = by("admin-key")

/** A run of telemetry whose key is the id of a session. */
const received = Effect.fnUntraced(function* (trace: number, sessionId: string) {
  yield* post(exportOf([span({ trace, span: 1, attributes: { "runplane.run.key": sessionId } })]), by("agents-key"))
  const runId = runOfKey("agents", sessionId)
  const { body } = yield* until(
    call("GET", `/runs/${runId}`, admin),
    (answer) => answer.status === 200 && answer.body.status === "completed"
  )
  assert.strictEqual(body.runtimeSessionId, sessionId)
  return runId
})

const create = (sessionId: string) => call("POST", "/runs", { body: descriptor({ session: { sessionId } }), ...admin })

layer(layerTestService({ settings }), { excludeTestServices: true })(
  "a key of telemetry that is a session id",
  (it) => {
    it.effect("does not hold the session: its run is created, and found by the session id", () =>
      Effect.gen(function* () {
        const sessionId = randomBytes(24).toString("base64url")
        const telemetry = yield* received(1, sessionId)
        const created = yield* create(sessionId)
        assert.strictEqual(created.status, 202, created.text)
        assert.notStrictEqual(created.body.runId, telemetry)
        const { body: run } = yield* call("GET", `/runs/${sessionId}`, admin)
        const { body: state } = yield* call("GET", `/runs/${sessionId}/state`, admin)
        const { body: metrics } = yield* call("GET", `/runs/${sessionId}/metrics`, admin)
        assert.deepStrictEqual([run.id, state.run.runId, metrics.runId], Array(3).fill(created.body.runId))
        // A second run of the session is refused as ever.
        assert.strictEqual((yield* create(sessionId)).status, 409)
        assert.strictEqual((yield* call("GET", `/runs/${telemetry}`, admin)).body.status, "completed")
      })
    )

    it.effect("does not hide the session from its discovery, also when the run of telemetry was deleted", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const observed = yield* ObservedRuns
        const sessionId = randomUUID()
        const telemetry = yield* received(2, sessionId)
        assert.isUndefined(yield* observed.ofSession(sessionId))
        const deleted = yield* call("DELETE", `/runs/${telemetry}`, admin)
        assert.strictEqual(deleted.status, 204, deleted.text)
        assert.strictEqual((yield* observed.deletedSessions([sessionId])).size, 0)
        assert.lengthOf(yield* sql`SELECT FROM runs WHERE id = ${telemetry}::uuid`, 0)
        assert.strictEqual((yield* create(sessionId)).status, 202)
      }).pipe(Effect.provide(ObservedRuns.layer))
    )

    it.effect("is not the session id of telemetry that comes after the run of the session", () =>
      Effect.gen(function* () {
        const sessionId = randomUUID()
        assert.strictEqual((yield* create(sessionId)).status, 202)
        yield* post(
          exportOf([span({ trace: 3, span: 1, attributes: { "runplane.run.key": sessionId } })]),
          by("agents-key")
        )
        const runId = runOfKey("agents", sessionId)
        const { body } = yield* until(call("GET", `/runs/${runId}`, admin), ({ status }) => status === 200)
        assert.strictEqual(body.runtimeSessionId, runId)
      })
    )
  }
)
