import { assert, describe, it } from "@effect/vitest"
import { RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { type Appended, type ObservedFrame, RunNotFound } from "../../src/event-log/append/AppendRequest.ts"
import { observed } from "../../src/event-log/append/FrameBytes.ts"
import { EventLog } from "../../src/event-log/EventLog.ts"
import { ObservedRuns } from "../../src/observe/ObservedRuns.ts"
import { SessionDiscovery } from "../../src/observe/SessionDiscovery.ts"
import { SignalStore } from "../../src/observe/SignalStore.ts"
import { AppendFailed } from "../../src/platform/postgres/AppendFailed.ts"
import { countedMetrics } from "../support/CountedMetrics.ts"
import { signal } from "./Signals.ts"

const SESSION = "the-session"
const runs = ["00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"].map((id) =>
  RunId.make(id)
)
const [FIRST = RunId.make(""), SECOND = RunId.make("")] = runs

const frame = (messageId: string): ObservedFrame =>
  observed(
    {
      kind: "stream-envelope",
      ambient: true,
      envelope: { ...signal(SESSION), macpVersion: "1.0", messageId, timestampUnixMs: 0 }
    },
    "2026-07-01T10:00:00.000Z"
  )

const idOf = ({ frame }: ObservedFrame) => (frame.kind === "stream-envelope" ? frame.envelope.messageId : "")

/** A log that stores what it is allowed to, and what became of everything. */
class World {
  run: RunId | undefined = FIRST
  /** Appends that still fail because the database is away. */
  outages = 0
  readonly stored: Array<string> = []
  readonly marks: Array<string> = []
  readonly expected = new Set<string>()
  onSettled = () => {}
  lost = 0

  readonly #append = (runId: RunId, write: () => void) =>
    Effect.suspend((): Effect.Effect<Appended, RunNotFound | AppendFailed> => {
      if (this.outages > 0) {
        this.outages -= 1
        return Effect.fail(new AppendFailed({ runId, reason: "away", outage: true }))
      }
      if (runId !== this.run) return Effect.fail(new RunNotFound({ runId }))
      return Effect.suspend(() => {
        write()
        return Effect.succeed({} as Appended)
      })
    })

  readonly layer = SignalStore.layer.pipe(
    Layer.provide([
      Layer.mock(EventLog)({
        observe: ({ frames, runId }) => {
          const ids = frames.map(idOf)
          if (ids.includes("broken")) return Effect.die(new Error("a signal that breaks its handler"))
          if (ids.includes("refused")) return Effect.fail(new AppendFailed({ runId, reason: "no", outage: false }))
          return this.#append(runId, () => this.stored.push(...ids.map((id) => `${runs.indexOf(runId) + 1} ${id}`)))
        },
        record: ({ events, runId }) => this.#append(runId, () => this.marks.push(...events.map(({ type }) => type)))
      }),
      Layer.mock(ObservedRuns)({
        ofSession: () => Effect.sync(() => this.run && { runId: this.run, isUnfinished: true, hasTimedOut: false })
      }),
      Layer.mock(SessionDiscovery)({
        isExpected: (name) => this.expected.has(name),
        settled: (name) =>
          Effect.sync(() => {
            this.expected.delete(name)
            this.onSettled()
          })
      }),
      countedMetrics({ signalLost: () => (this.lost += 1) })
    ])
  )
}

const store = Effect.fnUntraced(function* (...ids: ReadonlyArray<string>) {
  const [first = "", ...rest] = ids
  const signals = yield* SignalStore
  const storing = yield* Effect.forkChild(signals.store(SESSION, [frame(first), ...rest.map(frame)]))
  yield* TestClock.adjust("1 hour")
  return yield* Fiber.join(storing)
})

describe("signals", () => {
  it.effect("wait for as long as the database is away", () => {
    const world = new World()
    world.outages = 300
    return Effect.gen(function* () {
      yield* store("a", "b", "c")
      assert.deepStrictEqual(world.stored, ["1 a", "1 b", "1 c"])
      assert.strictEqual(world.lost, 0)
    }).pipe(Effect.provide(world.layer))
  })

  for (const poison of ["refused", "broken"]) {
    it.effect(`lose only the one that is ${poison}: it is counted, and its run is marked`, () => {
      const world = new World()
      return Effect.gen(function* () {
        yield* store("a", "b", poison, "c", "d", "e")
        assert.deepStrictEqual(world.stored, ["1 a", "1 b", "1 c", "1 d", "1 e"])
        assert.strictEqual(world.lost, 1)
        assert.deepStrictEqual(world.marks, ["session.stream.opened"])
      }).pipe(Effect.provide(world.layer))
    })
  }

  it.effect("go to the new run of a session whose run was deleted", () => {
    const world = new World()
    return Effect.gen(function* () {
      yield* store("a")
      world.run = undefined
      yield* store("b")
      world.run = SECOND
      yield* store("c")
      assert.deepStrictEqual(world.stored, ["1 a", "2 c"])
      yield* store("d")
      assert.deepStrictEqual(world.stored, ["1 a", "2 c", "2 d"])
      assert.strictEqual(world.lost, 0)
    }).pipe(Effect.provide(world.layer))
  })

  it.effect("wait for the run that is being made of their session", () => {
    const world = new World()
    world.run = undefined
    world.expected.add(SESSION)
    world.onSettled = () => {
      world.run = SECOND
    }
    return Effect.gen(function* () {
      yield* store("a")
      assert.deepStrictEqual(world.stored, ["2 a"])
    }).pipe(Effect.provide(world.layer))
  })
})
