import { assert, describe, it } from "@effect/vitest"
import { slowness, until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { signal, startCluster } from "./support/Cluster.ts"

const PROCESSES = 3
const RUNS = 30
const KILLS = 10
/** After the death of a process. Milliseconds, on a machine with nothing else to do. */
const AIM_MS = 5_000

const sum = (counts: ReadonlyArray<number>) => counts.reduce((all, count) => all + count, 0)

describe("three processes on one database", () => {
  it.live(
    `observe the runs of one that is killed again within ${AIM_MS} ms, in the median of ${KILLS} kills`,
    () =>
      Effect.gen(function* () {
        const cluster = yield* startCluster({ processes: PROCESSES, runs: RUNS })
        const members = [...cluster.all]
        const times: Array<number> = []
        for (let kill = 0; kill < KILLS; kill++) {
          const [victim] = members.splice(0, 1)
          if (victim === undefined) return assert.fail("no process is left")
          const killed = performance.now()
          yield* victim.kill("SIGKILL")
          yield* until(Effect.sync(cluster.open), (open) => sum(open) < RUNS)
          yield* cluster.observed
          times.push(performance.now() - killed)
          cluster.accept(10)
          const next = yield* cluster.start
          yield* next.url
          members.push(next)
          yield* cluster.settled(PROCESSES)
          yield* cluster.observed
        }
        times.sort((a, b) => a - b)
        yield* Effect.log("observed again after milliseconds", times.map(Math.round))
        assert.isBelow(times[KILLS / 2] ?? 0, AIM_MS * (yield* slowness))
        yield* cluster.finish
      }).pipe(Effect.scoped),
    290_000
  )

  it.live("let go of a paused one, which does no harm when it wakes", () =>
    Effect.gen(function* () {
      const cluster = yield* startCluster({ processes: PROCESSES, runs: RUNS })
      const [frozen] = cluster.all
      if (frozen === undefined) return assert.fail("no process")
      yield* signal(frozen, "SIGSTOP")
      // Its streams stay open, and the others open theirs.
      yield* cluster.settled(PROCESSES - 1)
      yield* until(Effect.sync(cluster.open), (open) => sum(open) > RUNS)
      cluster.accept(50)
      yield* signal(frozen, "SIGCONT")
      for (let round = 0; round < 50; round++) {
        cluster.accept(5)
        yield* Effect.sleep("10 millis")
      }
      yield* cluster.settled(PROCESSES)
      yield* cluster.observed
      yield* cluster.finish
    }).pipe(Effect.scoped)
  )

  it.live("lose and repeat nothing while they are restarted in turn under load", () =>
    Effect.gen(function* () {
      const cluster = yield* startCluster({ processes: PROCESSES, runs: RUNS })
      yield* Effect.forkScoped(
        Effect.forever(
          Effect.andThen(
            Effect.sync(() => cluster.accept(1)),
            Effect.sleep("50 millis")
          )
        )
      )
      for (const member of cluster.all) {
        assert.strictEqual((yield* member.kill("SIGTERM")).code, 0)
        yield* (yield* cluster.start).url
        yield* cluster.settled(PROCESSES)
      }
      yield* cluster.observed
      yield* cluster.finish
    }).pipe(Effect.scoped)
  )
})
