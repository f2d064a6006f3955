import { assert, describe, it } from "@effect/vitest"
import type { RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { EventLog } from "../../src/event-log/EventLog.ts"
import { EventRepository } from "../../src/event-log/EventRepository.ts"
import { AppendFailed } from "../../src/platform/postgres/AppendFailed.ts"
import { messageDraft } from "../support/Appends.ts"
import { assertLogIsExact } from "../support/LogChecks.ts"
import { createRun } from "../support/Runs.ts"
import type { Judge } from "./support/CuttingProxy.ts"
import { FaultyLine, layerFaultyLog, vote } from "./support/FaultyLog.ts"

const SEEDS = Number(process.env["CUT_LINES_SEEDS"] ?? 16)
const FRAMES = 60
const EVENTS = 40
/** One piece of so many, on average, is the last of its connection. */
const PIECES_PER_CUT = 25

/** Numbers from 0 to 1 that are the same in every run of the test. */
const numbersOf = (seed: number) => {
  let state = seed * 2_654_435_761
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e3779b9) | 0
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32
  }
}

const cutting = (seed: number): Judge => {
  const next = numbersOf(seed)
  return () => (next() < 1 / PIECES_PER_CUT ? (next() < 0.5 ? "cut-before" : "cut-after") : "pass")
}

const whileFailed = (error: unknown) => error instanceof AppendFailed

/** As the observer does it: after a failure it reads where the log stands and goes on from there. */
const pump = Effect.fnUntraced(function* (runId: RunId) {
  const log = yield* EventLog
  const events = yield* EventRepository
  const cursor = events.head(runId).pipe(
    Effect.retry({ times: 1_000 }),
    Effect.orDie,
    Effect.map((head) => head?.cursor ?? 0)
  )
  let stored = 0
  while (stored < FRAMES) {
    const frames = Array.from({ length: Math.min(7, FRAMES - stored) }, (_, position) =>
      vote(runId, stored + position + 1)
    )
    stored = yield* log.observe({ runId, cursor: stored, frames }).pipe(
      Effect.map((appended) => appended.cursor),
      Effect.catchTag("AppendFailed", () => cursor)
    )
  }
})

/** Events that nothing but the log itself keeps from being stored twice. */
const announce = Effect.fnUntraced(function* (runId: RunId) {
  const log = yield* EventLog
  for (let number = 1; number <= EVENTS; number++) {
    yield* Effect.retry(log.record({ runId, events: [messageDraft(1_000 + number)] }), { while: whileFailed })
  }
})

describe("a line to the database that breaks at any time", () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    it.live(
      `loses and doubles nothing (CUT_LINES seed ${seed})`,
      () =>
        Effect.gen(function* () {
          const line = yield* FaultyLine
          const runs = [yield* createRun(), yield* createRun()]
          line.judge(cutting(seed))
          yield* Effect.forEach(
            runs.flatMap((runId) => [pump(runId), announce(runId)]),
            (work) => work,
            { concurrency: "unbounded", discard: true }
          )
          line.judge(() => "pass")
          assert.isAbove(line.cuts(), 0)
          for (const runId of runs) {
            // The last connection that was cut may still lie in the pool.
            const { decoded } = yield* Effect.retry(assertLogIsExact(runId), { times: 5 })
            const ids = decoded
              .filter(({ type }) => type === "message.received")
              .map(({ recorded: { data } }) => data["messageId"])
            assert.strictEqual(ids.length, FRAMES + EVENTS)
            assert.strictEqual(new Set(ids).size, FRAMES + EVENTS)
          }
        }).pipe(Effect.scoped, Effect.provide(layerFaultyLog)),
      60_000
    )
  }
})
