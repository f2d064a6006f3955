import { assert, layer } from "@effect/vitest"
import { slowness } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { call, layerTestService } from "../../support/HttpService.ts"
import { committeeRuns, insertVoters, type VoterSeed } from "./VoterSeeds.ts"

const RUNS = 100_000
const SEATS = ["five", "four", "one", "three", "two"]
/** Processor time of the service, which other work of the machine does not change. Milliseconds. */
const LIMIT_MS = 2_000
const OTHER_LIMIT_MS = 1_000
/** The fastest one counts: the first compiles the code. */
const TRIALS = 3
const OTHERS = 20

/** One of so many runs has a shadow, whose vote is that of the participant in two of three. */
const SHADOWED = 10
const withShadow = (run: VoterSeed, at: number): VoterSeed => {
  const copied = run.votes.charAt(4)
  const vote = at % 3 > 0 ? copied : copied === "f" ? "a" : "f"
  const shadow = {
    shadow: "two~new",
    as: "two",
    agent: "new",
    vote,
    outcome: "same",
    costUsd: null,
    guessedUsd: 0
  } as const
  return at % SHADOWED === 0 ? { ...run, shadows: [shadow] } : run
}

const timed = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const [begin, cpu] = [performance.now(), process.cpuUsage()]
    return Effect.map(work, (value) => {
      const { system, user } = process.cpuUsage(cpu)
      return { value, ms: performance.now() - begin, cpuMs: (user + system) / 1_000 }
    })
  })

layer(layerTestService(), { excludeTestServices: true })("the independence of many runs", (it) => {
  it.effect(
    "is computed within its time, in bounded memory, and delays no other request",
    () =>
      Effect.gen(function* () {
        yield* insertVoters(SEATS, committeeRuns(RUNS, 3).map(withShadow))
        const independence = timed(call("GET", "/committees/independence"))
        const before = process.memoryUsage().rss
        const trials = yield* Effect.all(Array.from({ length: TRIALS }, () => independence))
        for (const { value } of trials) {
          assert.strictEqual(value.body.data[0]?.runs, RUNS)
          assert.strictEqual(value.body.data[0]?.effectiveVotes.kind, "known")
          assert.strictEqual(value.body.data[0]?.shadows[0]?.tried, RUNS / SHADOWED)
        }
        const fastest = Math.min(...trials.map(({ ms }) => ms))
        const least = Math.min(...trials.map(({ cpuMs }) => cpuMs))
        const grown = (process.memoryUsage().rss - before) / 1_048_576

        const long = yield* Effect.forkChild(independence)
        const others: Array<number> = []
        for (let at = 0; at < OTHERS; at++) others.push((yield* timed(call("GET", "/runs?limit=1"))).ms)
        yield* Fiber.join(long)
        const slowest = Math.max(...others)
        const slow = yield* slowness
        yield* Effect.logInfo(
          `${RUNS} runs: ${fastest.toFixed(0)} ms, CPU of the service ${least.toFixed(0)} ms, ${grown.toFixed(0)} MiB more; the slowest of ${OTHERS} requests ` +
            `beside it ${slowest.toFixed(0)} ms; the machine is ${slow.toFixed(1)} times slower than an idle one`
        )
        assert.isBelow(least, LIMIT_MS)
        assert.isBelow(slowest, OTHER_LIMIT_MS * slow)
        assert.isBelow(grown, 400)
      }),
    180_000
  )
})
