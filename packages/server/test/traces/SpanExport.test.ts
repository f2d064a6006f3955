import { assert, describe, it } from "@effect/vitest"
import { type SpanExporter, TracerProvider } from "@opentelemetry/sdk-trace"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as References from "effect/References"
import * as TestClock from "effect/testing/TestClock"
import { FLUSH_TIMEOUT, makeSpanExport } from "../../src/traces/SpanExport.ts"

type Done = Parameters<SpanExporter["export"]>[1]

const OK = { code: 0 }
const AWAY = { code: 1, error: Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" }) }

const exporting = Effect.fnUntraced(function* (answer: (done: Done) => void) {
  const counts = { exported: 0, dropped: 0 }
  const { processor, stop } = yield* makeSpanExport(
    { export: (_, done) => answer(done), shutdown: () => Promise.resolve() },
    counts
  )
  const tracer = new TracerProvider({ spanProcessors: [processor] }).getTracer("test")
  const end = (spans: number) => {
    for (let span = 0; span < spans; span++) tracer.startSpan("span").end()
  }
  /** Ends spans and waits for the exporter's answer, and for what the log says of it. */
  const send = (spans: number) =>
    Effect.andThen(
      Effect.promise(() => {
        end(spans)
        return processor.forceFlush().catch(() => undefined)
      }),
      Effect.yieldNow
    )
  return { counts, end, send, stop }
})

describe("the export of spans", () => {
  const lines: Array<string> = []
  const layer = Layer.mergeAll(
    Logger.layer([Logger.make(({ message }) => void lines.push(String(message)))]),
    Layer.succeed(References.MinimumLogLevel, "Info"),
    ConfigProvider.layer(ConfigProvider.fromEnv({ env: { OTEL_BSP_MAX_QUEUE_SIZE: "4" } }))
  )
  const taken = () => lines.splice(0)

  it.effect("counts what a collector refuses, and logs it once, now and then, and when it is back", () =>
    Effect.gen(function* () {
      let result: Parameters<Done>[0] = AWAY
      const { counts, send } = yield* exporting((done) => done(result))
      for (let batch = 0; batch < 3; batch++) yield* send(2)
      assert.deepStrictEqual(taken(), [
        "the export of traces does not work: connect ECONNREFUSED; 2 spans are lost so far"
      ])
      yield* TestClock.adjust("5 minutes")
      yield* send(2)
      assert.deepStrictEqual(taken(), [
        "the export of traces does not work, for 300 s now: connect ECONNREFUSED; 8 spans are lost so far"
      ])
      assert.deepStrictEqual(counts, { exported: 0, dropped: 8 })
      result = OK
      yield* send(3)
      yield* send(1)
      assert.deepStrictEqual(taken(), ["the export of traces works again after 300 s"])
      assert.deepStrictEqual(counts, { exported: 4, dropped: 8 })
    }).pipe(Effect.provide(layer))
  )

  it.effect("counts the spans beyond the capacity of the queue", () =>
    Effect.gen(function* () {
      const waiting: Array<Done> = []
      const { counts, end } = yield* exporting((done) => void waiting.push(done))
      // Four go to the exporter, four wait for it.
      end(10)
      assert.deepStrictEqual(counts, { exported: 0, dropped: 2 })
      waiting.shift()?.(OK)
      yield* Effect.yieldNow
      assert.deepStrictEqual(counts, { exported: 4, dropped: 2 })
      assert.deepStrictEqual(taken(), [
        "the export of traces does not work: more than 4 spans wait for the exporter; 2 spans are lost so far"
      ])
    }).pipe(Effect.provide(layer))
  )

  it.effect("counts a batch of which the exporter throws", () =>
    Effect.gen(function* () {
      const { counts, send } = yield* exporting(() => {
        throw new Error("too deep")
      })
      yield* send(2)
      assert.deepStrictEqual(counts, { exported: 0, dropped: 2 })
      assert.include(taken().join(), "too deep")
    }).pipe(Effect.provide(layer))
  )

  it.effect("exports the last spans at the stop", () =>
    Effect.gen(function* () {
      const { counts, end, stop } = yield* exporting((done) => done(OK))
      end(3)
      yield* Effect.scoped(Effect.addFinalizer(() => stop))
      assert.deepStrictEqual(counts, { exported: 3, dropped: 0 })
      assert.deepStrictEqual(taken(), [])
    }).pipe(Effect.provide(layer))
  )

  it.effect("stops in time when the collector does not answer, and says how many spans are lost", () =>
    Effect.gen(function* () {
      const { end, stop } = yield* exporting(() => undefined)
      end(3)
      const stopping = yield* Effect.forkChild(Effect.scoped(Effect.addFinalizer(() => stop)))
      yield* TestClock.adjust(FLUSH_TIMEOUT)
      yield* Fiber.join(stopping)
      assert.deepStrictEqual(taken(), ["the last 3 spans are lost: the collector did not take them in time"])
    }).pipe(Effect.provide(layer))
  )
})
