import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Logger from "effect/Logger"
import * as References from "effect/References"
import * as Tracer from "effect/Tracer"
import { jsonLine, layerLogging } from "../src/index.ts"

const RUN = "5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10"
const ids = { traceId: "9f2d0c7be1a94d0f8f6d1d2a3b4c5d6e", spanId: "00f067aa0ba902b7" }

/** The entries that the effect logs, parsed. */
const logged = Effect.fnUntraced(function* (effect: Effect.Effect<void>) {
  const lines: Array<string> = []
  const collect = Logger.map(jsonLine, (line) => {
    lines.push(line)
  })
  yield* Effect.provide(effect, Logger.layer([collect]))
  for (const line of lines) assert.notInclude(line, "\n")
  return lines.map((line) => JSON.parse(line))
})

const request = (url: string) => HttpServerRequest.fromWeb(new Request(`http://127.0.0.1${url}`))

describe("the log for machines", () => {
  it.effect("is a line of JSON an entry, with the ids of run, session, request and trace", () =>
    Effect.gen(function* () {
      const [entry] = yield* logged(
        Effect.logWarning("the stream", "ended").pipe(
          Effect.annotateLogs({ runId: RUN, sessionId: "s1", requestId: "r1" }),
          Effect.withParentSpan(Tracer.externalSpan({ ...ids, sampled: true }))
        )
      )
      assert.deepStrictEqual(entry, {
        timestamp: "1970-01-01T00:00:00.000Z",
        level: "warn",
        message: "the stream ended",
        runId: RUN,
        sessionId: "s1",
        requestId: "r1",
        ...ids
      })
    })
  )

  it.effect("names the run that a request is about", () =>
    Effect.gen(function* () {
      for (const [url, runId] of [
        [`/runs/${RUN}`, RUN],
        [`/runs/${RUN.toUpperCase()}/events?limit=5`, RUN],
        ["/runs/compare", undefined],
        ["/metrics", undefined]
      ] as const) {
        const [entry] = yield* logged(
          Effect.provideService(Effect.logInfo("x"), HttpServerRequest.HttpServerRequest, request(url))
        )
        assert.strictEqual(entry.runId, runId, url)
      }
    })
  )

  it.effect("has no trace id of a span that stands in for one while tracing is off", () =>
    Effect.gen(function* () {
      const [entry] = yield* logged(
        Effect.logInfo("x").pipe(Effect.withSpan("s"), Effect.provideService(References.TracerEnabled, false))
      )
      assert.notProperty(entry, "traceId")
    })
  )

  it.effect("tells causes", () =>
    Effect.gen(function* () {
      const failing = Effect.fail(new Error("no luck")).pipe(
        Effect.catchCause((cause) => Effect.logError("it failed", cause))
      )
      const [entry] = yield* logged(failing)
      assert.strictEqual(entry.message, "it failed")
      assert.include(entry.cause, "no luck")
    })
  )
})

describe("the level of the log", () => {
  for (const [setting, level] of [
    ["", "Info"],
    ["debug", "Debug"],
    ["WARN", "Warn"],
    ["silent", "None"],
    // The check of the settings says so, and the start ends.
    ["loud", "Info"]
  ] as const) {
    it.effect(`is ${level} for LOG_LEVEL=${setting}`, () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* References.MinimumLogLevel, level)
      }).pipe(
        Effect.provide(layerLogging),
        Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: { LOG_LEVEL: setting } })))
      )
    )
  }
})
