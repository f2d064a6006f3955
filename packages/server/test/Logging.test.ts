import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Logger from "effect/Logger"
import type * as LogLevel from "effect/LogLevel"
import * as References from "effect/References"
import * as Tracer from "effect/Tracer"
import { TestClock } from "effect/testing"
import {
  changeLogLevel,
  jsonLine,
  LogLevelSwitch,
  layerLogging,
  makeOutageLog,
  pairsLine,
  personLine,
  switched
} from "../src/index.ts"

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

  it.effect("has no trace id of the placeholder span of a disabled tracer", () =>
    Effect.gen(function* () {
      const [entry] = yield* logged(
        Effect.logInfo("x").pipe(Effect.withSpan("s"), Effect.provideService(References.TracerEnabled, false))
      )
      assert.notProperty(entry, "traceId")
    })
  )

  it.effect("shows causes", () =>
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

describe("a line of the log", () => {
  const HOSTILE = 'gone\n[12:00:00.000] ERROR (#1): forged level=ERROR "\u001b[2J\r\u0085\u202e\u2028\\'
  const UNSAFE = /[^\P{Cc}\n]|\p{Bidi_Control}|\p{Zl}|\p{Zp}/u

  /** What a logger writes of an entry whose every part holds the hostile text. */
  const writtenBy = Effect.fnUntraced(function* (logger: Logger.Logger<unknown, string>) {
    const written: Array<string> = []
    const collect = Logger.map(logger, (text) => {
      written.push(text)
    })
    const failing = Effect.fail(new Error(HOSTILE, { cause: new Error(HOSTILE) }))
    yield* failing.pipe(
      Effect.catchCause((cause) => Effect.logWarning(HOSTILE, { message: HOSTILE }, new Error(HOSTILE), cause)),
      Effect.annotateLogs({ sessionId: HOSTILE, about: { text: HOSTILE } }),
      Effect.provide(Logger.layer([collect]))
    )
    assert.lengthOf(written, 1)
    return written[0] ?? ""
  })

  it.effect("of JSON is one line without control characters of a terminal, and keeps the message", () =>
    Effect.gen(function* () {
      const line = yield* writtenBy(jsonLine)
      assert.notMatch(line, UNSAFE)
      assert.notInclude(line, "\n")
      assert.strictEqual(JSON.parse(line).sessionId, HOSTILE)
      assert.isTrue(JSON.parse(line).message.startsWith(HOSTILE))
    })
  )

  it.effect("bounds the texts of fields", () =>
    Effect.gen(function* () {
      for (const logger of [jsonLine, personLine]) {
        const written: Array<string> = []
        const collect = Logger.map(logger, (line) => void written.push(line))
        yield* Effect.logInfo("run started").pipe(
          Effect.annotateLogs({ mode: "m".repeat(100_000) }),
          Effect.provide(Logger.layer([collect]))
        )
        assert.lengthOf(written, 1)
        assert.include(written[0], "… (cut, 100002 bytes, #")
        assert.isBelow(written[0]?.length ?? 0, 5_000)
      }
    })
  )

  it.effect("of pairs is one line, and its texts hold no pair", () =>
    Effect.gen(function* () {
      const line = yield* writtenBy(pairsLine)
      assert.notMatch(line, UNSAFE)
      assert.notInclude(line, "\n")
      // Outside of quoted values there is one level.
      const unquoted = line.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""')
      assert.deepStrictEqual(unquoted.match(/level=\w+/g), ["level=WARN"])
    })
  )

  it.effect("for people is one line, with the cause and its frames indented behind it", () =>
    Effect.gen(function* () {
      const text = yield* writtenBy(personLine)
      assert.notMatch(text, UNSAFE)
      const [first = "", ...rest] = text.split("\n")
      assert.match(first, /^\[00:00:00\.000\] WARN \(#\d+\): gone\\n\[12:00/)
      for (const line of rest) assert.match(line, /^ {4}(Error: gone\\n|caused by Error: gone\\n| {2}at )/)
      assert.isAtLeast(rest.length, 2)
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
        assert.strictEqual((yield* LogLevelSwitch).level, level)
        // The switch alone decides.
        assert.strictEqual(yield* References.MinimumLogLevel, "All")
      }).pipe(
        Effect.provide(layerLogging),
        Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: { LOG_LEVEL: setting } })))
      )
    )
  }
})

describe("a level that is changed without a restart", () => {
  it.effect("applies from then on, and the change is logged", () =>
    Effect.gen(function* () {
      const holder: { level: LogLevel.LogLevel } = { level: "Warn" }
      const logged: Array<string> = []
      const collect = Logger.map(jsonLine, (line) => {
        logged.push(JSON.parse(line).message)
      })
      yield* Effect.gen(function* () {
        yield* Effect.logInfo("before")
        assert.deepStrictEqual(yield* changeLogLevel("debug"), { level: "debug", previous: "warn" })
        yield* Effect.logDebug("after")
        yield* changeLogLevel("none")
        yield* Effect.logFatal("never")
      }).pipe(
        Effect.provide(Logger.layer([switched(collect, holder)])),
        Effect.provideService(LogLevelSwitch, holder),
        Effect.provideService(References.MinimumLogLevel, "All")
      )
      assert.deepStrictEqual(logged, [
        "the level of the log goes from warn to debug",
        "after",
        "the level of the log goes from debug to none"
      ])
    })
  )
})

describe("the log of an outage", () => {
  it.effect("reports it at once, then at growing intervals, and its end", () =>
    Effect.gen(function* () {
      const outage = makeOutageLog("the database")
      const entries = yield* logged(
        Effect.gen(function* () {
          yield* outage.back
          for (let second = 0; second <= 80; second += 5) {
            yield* outage.lost("no answer")
            yield* TestClock.adjust("5 seconds")
          }
          yield* outage.back
          yield* outage.back
        })
      )
      assert.deepStrictEqual(
        entries.map(({ message }) => message),
        [
          "the database does not work: no answer",
          "the database does not work, for 10 s now: no answer",
          "the database does not work, for 70 s now: no answer",
          "the database works again after 85 s"
        ]
      )
    })
  )
})
