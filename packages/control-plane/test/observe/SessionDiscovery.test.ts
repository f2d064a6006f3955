import { assert, describe, it } from "@effect/vitest"
import { RunId, type SessionSnapshot } from "@runplane/domain"
import { RuntimeFake } from "@runplane/runtime/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ConnectionError, SqlError } from "effect/sql/SqlError"
import * as TestClock from "effect/testing/TestClock"
import { type Appended, RunAlreadyExists } from "../../src/event-log/append/AppendRequest.ts"
import { EventLog } from "../../src/event-log/EventLog.ts"
import { RunRepository } from "../../src/event-log/runs/RunRepository.ts"
import { ObservedRuns } from "../../src/observe/ObservedRuns.ts"
import { ObserverSettings } from "../../src/observe/ObserverSettings.ts"
import { Observers } from "../../src/observe/Observers.ts"
import { SessionDiscovery } from "../../src/observe/SessionDiscovery.ts"
import { SessionDirectory } from "../../src/observe/sessions/SessionDirectory.ts"
import { Ids } from "../../src/platform/Ids.ts"
import { AppendFailed } from "../../src/platform/postgres/AppendFailed.ts"
import { DatabaseClock } from "../../src/platform/postgres/DatabaseClock.ts"

const GRACE_MS = 1_000

const sessionOf = (number: number): SessionSnapshot => ({
  sessionId: `0197f3a2-6b1e-7c44-9d1a-${String(number).padStart(12, "0")}`,
  mode: "macp.mode.decision.v1",
  state: "OPEN",
  startedAtUnixMs: 0,
  expiresAtUnixMs: 60_000,
  modeVersion: "1.0.0",
  configurationVersion: "config.default",
  policyVersion: "policy.default",
  participants: ["agent://a"],
  participantActivity: [],
  initiator: "agent://a",
  contextId: "",
  extensionKeys: []
})

const away = new SqlError({ reason: new ConnectionError({ cause: new Error("away"), operation: "connect" }) })

/** The database of the discovery: its runs, its outages, and its load. */
class World {
  readonly runs = new Set<string>()
  readonly adopted: Array<string> = []
  readonly discoveredAt = new Set<unknown>()
  /** Look-ups and creations that still fail because the database is away. */
  outages = 0
  lookUps = 0
  #working = 0
  mostAtOnce = 0

  readonly #work = <A, E>(effect: Effect.Effect<A, E>) =>
    Effect.suspend(() => {
      this.#working += 1
      this.mostAtOnce = Math.max(this.mostAtOnce, this.#working)
      return Effect.delay(effect, "10 millis")
    }).pipe(Effect.ensuring(Effect.sync(() => (this.#working -= 1))))

  readonly #isAway = () => this.outages > 0 && this.outages-- > 0

  readonly layer = SessionDiscovery.layer.pipe(
    Layer.provide([
      Layer.mock(EventLog)({
        create: ({ insert, runId }) =>
          this.#work(
            Effect.suspend((): Effect.Effect<Appended, RunAlreadyExists | AppendFailed> => {
              if (this.#isAway()) return Effect.fail(new AppendFailed({ runId, reason: "away", outage: true }))
              if (this.runs.has(runId)) return Effect.fail(new RunAlreadyExists({ runId }))
              this.runs.add(runId)
              return insert === undefined
                ? Effect.succeed({} as Appended)
                : Effect.as(Effect.orDie(insert), {} as Appended)
            })
          )
      }),
      Layer.mock(ObservedRuns)({
        ofSessions: (names) =>
          this.#work(
            Effect.suspend(() => {
              this.lookUps += 1
              if (this.#isAway()) return Effect.fail(away)
              const known = names.filter((name) => this.runs.has(name))
              const run = { isUnfinished: true, hasTimedOut: false }
              return Effect.succeed(new Map(known.map((name) => [name, { ...run, runId: RunId.make(name) }])))
            })
          ),
        deletedSessions: () => Effect.succeed(new Set<string>())
      }),
      Layer.mock(RunRepository)({
        insert: ({ metadata }) =>
          Effect.sync(() => this.discoveredAt.add(metadata["discoveredAt"])).pipe(Effect.as(true))
      }),
      Layer.mock(Observers)({ adopt: (runId) => Effect.sync(() => void this.adopted.push(runId)) }),
      Layer.mock(SessionDirectory, { isWatching: () => true, isObserved: () => false, publish: () => {} }),
      ObserverSettings.layerFrom({ discoveryGraceMs: GRACE_MS }),
      Ids.layer,
      DatabaseClock.layerProcess,
      RuntimeFake.layer
    ])
  )
}

describe("discovery", () => {
  it.effect("makes a run of each session of a burst, with few look-ups and few at a time", () => {
    const world = new World()
    return Effect.gen(function* () {
      const discovery = yield* SessionDiscovery
      const burst = Array.from({ length: 2_000 }, (_, number) => sessionOf(number))
      for (const session of burst.slice(0, 500)) world.runs.add(session.sessionId)
      // Twice, as a new watch reports them.
      for (const session of [...burst, ...burst]) yield* discovery.expect(session)
      yield* TestClock.adjust(GRACE_MS - 1)
      assert.strictEqual(world.lookUps, 0)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(world.runs.size, 2_000)
      assert.strictEqual(new Set(world.adopted).size, 1_500)
      assert.lengthOf(world.adopted, 1_500)
      assert.isAtMost(world.lookUps, 20)
      assert.isAtMost(world.mostAtOnce, 16)
      // The sessions were noticed before the grace, at which their stories begin.
      assert.deepStrictEqual(world.discoveredAt, new Set([new Date(0).toISOString()]))
    }).pipe(Effect.provide(world.layer))
  })

  it.effect("waits for as long as the database is away", () => {
    const world = new World()
    world.outages = 100
    return Effect.gen(function* () {
      const discovery = yield* SessionDiscovery
      for (let number = 0; number < 20; number++) yield* discovery.expect(sessionOf(number))
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(world.outages, 0)
      assert.strictEqual(world.runs.size, 20)
      assert.isFalse(discovery.isExpected(sessionOf(0).sessionId))
    }).pipe(Effect.provide(world.layer))
  })
})
