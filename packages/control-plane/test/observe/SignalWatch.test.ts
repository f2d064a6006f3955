import { assert, describe, it } from "@effect/vitest"
import { RuntimeFake } from "@runplane/runtime/testing"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { ObserverSettings } from "../../src/observe/ObserverSettings.ts"
import { SignalStore } from "../../src/observe/SignalStore.ts"
import { layerSignalWatch } from "../../src/observe/SignalWatch.ts"
import { countedMetrics } from "../support/CountedMetrics.ts"

const SESSION = "0197f3a2-6b1e-7c44-9d1a-000000000001"
const OTHER = "0197f3a2-6b1e-7c44-9d1a-000000000002"

/** A store that does not get on before it is let go, behind a buffer of 1 MiB: 192 KiB for each sender of a session. */
const makeWorld = Effect.gen(function* () {
  const gate = yield* Deferred.make<void>()
  const stored = new Map<string, number>()
  const notes: Array<string> = []
  const losses = { lost: 0 }
  const layer = layerSignalWatch.pipe(
    Layer.provide([
      Layer.mock(SignalStore)({
        store: (sessionId, frames) =>
          Effect.andThen(
            Deferred.await(gate),
            Effect.sync(() => {
              for (const { frame } of frames) {
                if (frame.kind !== "stream-envelope") continue
                const name = `${sessionId === SESSION ? "session" : "other"} ${frame.envelope.sender}`
                stored.set(name, (stored.get(name) ?? 0) + 1)
              }
            })
          ),
        note: (sessionId, detail) => Effect.sync(() => void notes.push(`${sessionId === SESSION}: ${detail}`)),
        mark: () => Effect.void
      }),
      countedMetrics({ signalLost: () => (losses.lost += 1) }),
      ObserverSettings.layerFrom({ signalBufferBytes: 1024 * 1024 })
    ]),
    Layer.provideMerge(RuntimeFake.layer)
  )
  return { gate, stored, notes, losses, layer }
})

const flood = Effect.fnUntraced(function* (sessionId: string, sender: string, count: number, bytes = 1_000) {
  const fake = yield* RuntimeFake
  const payload = new Uint8Array(bytes)
  for (let number = 0; number < count; number++) {
    yield* fake.signal({ sessionId, sender, messageId: `${sender}-${number}`, payload })
  }
  yield* TestClock.adjust(1)
})

// docs/internals/runtime.md#signals
describe("signals that arrive faster than they are stored", () => {
  it.effect("are lost of the sender that floods, and its run and a metric say how many", () =>
    Effect.gen(function* () {
      const { gate, layer, losses, notes, stored } = yield* makeWorld
      yield* Effect.gen(function* () {
        yield* TestClock.adjust(1)
        yield* flood(SESSION, "loud", 300)
        yield* flood(SESSION, "quiet", 20)
        yield* flood(OTHER, "loud", 20)
        assert.deepStrictEqual(notes, [])
        yield* TestClock.adjust("1 second")
        yield* Deferred.succeed(gate, undefined)
        yield* TestClock.adjust("1 second")
        const kept = stored.get("session loud") ?? 0
        assert.isAbove(kept, 60)
        assert.isBelow(kept, 300)
        assert.deepStrictEqual([stored.get("session quiet"), stored.get("other loud")], [20, 20])
        assert.strictEqual(losses.lost, 300 - kept)
        const why = "signals are lost, because too many waited to be stored"
        assert.deepStrictEqual(notes, [`true: ${why}: ${300 - kept} of loud`])
        // It may go on.
        yield* flood(SESSION, "loud", 10)
        assert.strictEqual(stored.get("session loud"), kept + 10)
      }).pipe(Effect.provide(layer))
    })
  )

  it.effect("are noted once a second, with the senders that are named at most", () =>
    Effect.gen(function* () {
      const { gate, layer, losses, notes } = yield* makeWorld
      yield* Effect.gen(function* () {
        yield* TestClock.adjust(1)
        for (let sender = 0; sender < 8; sender++) yield* flood(SESSION, `agent-${sender}`, 2, 120 * 1024)
        yield* TestClock.adjust("1 second")
        yield* flood(SESSION, "agent-0", 2, 120 * 1024)
        yield* Deferred.succeed(gate, undefined)
      }).pipe(Effect.provide(layer))
      // The last note is written when the watch ends.
      assert.lengthOf(notes, 2)
      assert.include(notes[0] ?? "", "of other senders")
      const counts = notes.flatMap((note) => [...note.matchAll(/(\d+) of /g)].map(([, count]) => Number(count)))
      assert.strictEqual(
        counts.reduce((sum, count) => sum + count, 0),
        losses.lost
      )
    })
  )
})
