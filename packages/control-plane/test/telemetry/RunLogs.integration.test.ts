import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, it } from "@effect/vitest"
import { RuntimeFake } from "@runplane/runtime/testing"
import { jsonLine } from "@runplane/server"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as References from "effect/References"
import { callbackServer } from "../support/CallbackServer.ts"
import { call, layerTestService } from "../support/HttpService.ts"
import { assertEndedOnce, post, runningRun } from "../support/LiveRuns.ts"
import { awaitStatus } from "../support/Observation.ts"

type Line = Readonly<Record<string, string>>

const isRequest = ({ message }: Line) => /^[A-Z]+ \/\S* \d{3} /.test(message ?? "")

const awaitLine = (lines: ReadonlyArray<Line>, text: string) =>
  until(
    Effect.sync(() => lines.some(({ message }) => message?.includes(text) === true)),
    (found) => found
  )

const withoutTable = <A, E, R>(table: string, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    yield* sql.unsafe(`ALTER TABLE ${table} RENAME TO ${table}_away`).unprepared
    yield* Effect.ensuring(effect, Effect.orDie(sql.unsafe(`ALTER TABLE ${table}_away RENAME TO ${table}`).unprepared))
  })

// docs/reference/http.md#request-ids
it.live("every line about a run names the run, its session and its trace, and the request where there is one", () =>
  Effect.gen(function* () {
    const lines: Array<Line> = []
    const logger = Logger.map(jsonLine, (line) => void lines.push(JSON.parse(line)))
    const service = layerTestService({
      observer: { discoveryEnabled: true, endCheckDelayMs: 5, streamBackoffBaseMs: 1 }
    })
    const runId = yield* Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const server = yield* callbackServer(200)
      const id = yield* runningRun({ cancelCallback: { url: server.url } })
      // Trouble in the observer and in a request: what is logged of either is about this run.
      yield* fake.awaitOpenStreams("StreamSession", 1, id)
      yield* withoutTable(
        "raw_events",
        Effect.andThen(fake.accept(id, { messageType: "Vote" }), awaitLine(lines, "could not append"))
      )
      yield* withoutTable(
        "audit_log",
        Effect.gen(function* () {
          const headers = { "x-request-id": "the-request" }
          yield* Effect.forkChild(call("POST", `/runs/${id}/cancel`, { headers }))
          yield* fake.transition(id, "CANCELLED")
          yield* awaitStatus(id, "cancelled")
          yield* awaitLine(lines, "the audit entry run.cancel")
        })
      )
      assert.strictEqual((yield* post(id, "suspend")).status, 400)
      yield* assertEndedOnce(id)
      return id
    }).pipe(
      Effect.provide(
        service.pipe(Layer.provide([Logger.layer([logger]), Layer.succeed(References.MinimumLogLevel, "All")]))
      ),
      Effect.scoped
    )
    const mentions = lines.filter((line) => JSON.stringify(line).includes(runId))
    // The line of a request is written by who serves it and knows no more of the run than the path does.
    const [requests, about] = [mentions.filter(isRequest), mentions.filter((line) => !isRequest(line))]
    assert.isAbove(requests.length, 0)
    for (const line of requests) {
      assert.strictEqual(line["runId"], runId, JSON.stringify(line))
      assert.isString(line["requestId"], JSON.stringify(line))
    }
    assert.isAbove(about.length, 1)
    for (const line of about) {
      assert.strictEqual(line["runId"], runId, JSON.stringify(line))
      assert.strictEqual(line["sessionId"], runId, JSON.stringify(line))
      assert.match(line["traceId"] ?? "", /^[0-9a-f]{32}$/, JSON.stringify(line))
    }
    const [audit] = about.filter(({ message }) => message?.includes("the audit entry run.cancel"))
    assert.strictEqual(audit?.["requestId"], "the-request")
  }).pipe(Effect.scoped)
)
