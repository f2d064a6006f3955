import { randomUUID } from "node:crypto"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert } from "@effect/vitest"
import { ControlPlaneClient } from "@runplane/api"
import { RunId } from "@runplane/domain"
import { type Answer, followSse, request, until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import { layerDatabase } from "../../../src/platform/postgres/Database.ts"
import { postRun } from "../../support/HttpService.ts"
import { assertLogIsExact } from "../../support/LogChecks.ts"
import { ScriptedRuntime } from "../../support/ScriptedRuntime.ts"
import { webhookReceiver } from "../../support/WebhookReceiver.ts"
import { ownPostgres, type Stop } from "./OwnPostgres.ts"
import { startService } from "./ServiceProcess.ts"

/** Envelopes that the runtime accepts around each stop of the database. */
const ENVELOPES_PER_STOP = 60

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, position) => from + position)

/**
 * Stops the database of a service that observes a run and serves it, once for each of `stops`, and starts it again on
 * the same data. Nothing may be lost, nothing doubled, no client cut off, and the process has to live on.
 */
export const surviveRestarts = Effect.fnUntraced(function* (stops: ReadonlyArray<Stop>) {
  const length = 1 + ENVELOPES_PER_STOP * (stops.length + 1)
  const postgres = yield* ownPostgres
  const runtime = yield* ScriptedRuntime.start
  const service = yield* startService({
    DATABASE_URL: postgres.url,
    RUNTIME_ADDRESS: runtime.address,
    DB_POOL_CONNECTION_TIMEOUT: "1000",
    STREAM_SSE_HEARTBEAT_MS: "1000"
  })
  yield* Effect.addFinalizer((exit) =>
    Effect.sync(() => exit._tag === "Failure" && console.error(service.output().slice(-4_000)))
  )
  const url = yield* service.url
  const hooks = yield* webhookReceiver()
  yield* request("POST", `${url}/webhooks`, { body: { url: hooks.url, events: [], secret: "s" } })

  const sessionId = randomUUID()
  const runId = RunId.make(sessionId)
  runtime.openSession(sessionId, length)
  assert.strictEqual((yield* postRun(url, sessionId)).status, 202)
  const readers = yield* Effect.forEach(numbers(1, 4), () => followSse(`${url}/runs/${runId}/stream?afterSeq=0`))
  const client = yield* followed(url, runId)
  const [reader] = readers
  if (reader === undefined) return assert.fail("no reader")
  const readiness = (database: string) =>
    until(request("GET", `${url}/readyz`), ({ body }: Answer) => body.checks.database === database)
  yield* readiness("ok")

  for (const [round, stop] of stops.entries()) {
    const before = 1 + ENVELOPES_PER_STOP * round
    // Part of a burst is stored when the server goes, part of it comes while there is none.
    runtime.accept(sessionId, before + ENVELOPES_PER_STOP / 2)
    yield* reader.received(before)
    yield* postgres.stop(stop)
    runtime.accept(sessionId, before + ENVELOPES_PER_STOP)
    const degraded = yield* readiness("unhealthy")
    assert.strictEqual(degraded.status, 200)
    assert.strictEqual(degraded.body.status, "degraded")
    assert.strictEqual((yield* request("GET", `${url}/healthz`)).status, 200)
    const refused = [
      yield* request("GET", `${url}/runs/${runId}`),
      yield* request("GET", `${url}/runs/${runId}/stream`),
      yield* request("GET", `${url}/webhooks`),
      yield* postRun(url, randomUUID())
    ]
    for (const { body, headers, status } of refused) {
      assert.deepStrictEqual(
        { status, ...body },
        {
          status: 503,
          statusCode: 503,
          errorCode: "SERVICE_UNAVAILABLE",
          message: "the database is unavailable"
        }
      )
      assert.isTrue(Number(headers.get("retry-after")) > 0)
    }
    yield* postgres.start
    yield* readiness("ok")
    // The events of the meantime are delivered, although nothing more happens.
    yield* reader.received(before + ENVELOPES_PER_STOP)
  }

  runtime.accept(sessionId, length)
  for (const each of readers) assert.strictEqual(yield* each.closed, "end")
  const lastIndex = reader.events.length
  for (const { indexes } of readers) assert.deepStrictEqual(indexes(), numbers(1, lastIndex))
  assert.deepStrictEqual(yield* Fiber.join(client), numbers(1, lastIndex))

  const { decoded } = yield* assertLogIsExact(runId).pipe(
    Effect.provide(layerDatabase({ url: postgres.url, maxConnections: 1 }))
  )
  assert.lengthOf(decoded, lastIndex)
  assert.deepStrictEqual(
    decoded.filter(({ type }) => type === "message.received").map(({ recorded: { data } }) => data["messageId"]),
    numbers(1, length).map((ordinal) => `message-${ordinal}`)
  )
  assert.deepStrictEqual(
    decoded.filter(({ type }) => type === "run.completed").map(({ index }) => index),
    [lastIndex]
  )

  const received = [yield* Queue.take(hooks.requests), yield* Queue.take(hooks.requests)]
  assert.deepStrictEqual(
    received.map(({ headers }) => headers["x-macp-event"]),
    ["run.started", "run.completed"]
  )
  assert.isTrue(service.isAlive())
  assert.strictEqual((yield* service.kill("SIGTERM")).code, 0, service.output())
  assert.notMatch(service.output(), /unhandled|request failed|failed unexpectedly/i)
  assert.strictEqual(yield* Queue.size(hooks.requests), 0)
})

/** The indexes that the typed client hands out, which reconnects where the connection breaks. */
const followed = Effect.fnUntraced(function* (url: string, runId: RunId) {
  const follow = Effect.gen(function* () {
    const client = yield* ControlPlaneClient
    return yield* client.streamRun(runId, { afterSeq: 0 }).pipe(
      Stream.flatMap((event) => (event.event === "canonical_event" ? Stream.succeed(event.data.index) : Stream.empty)),
      Stream.runCollect
    )
  }).pipe(Effect.provide(ControlPlaneClient.layer({ baseUrl: url })), Effect.provide(NodeHttpClient.layerNodeHttp))
  return yield* Effect.forkScoped(follow)
})
