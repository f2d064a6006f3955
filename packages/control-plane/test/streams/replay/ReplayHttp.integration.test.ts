import { randomUUID } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { type CanonicalEvent, decodeEvent, emptyRunState, project, type RunId } from "@runplane/domain"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { EventLog } from "../../../src/event-log/EventLog.ts"
import { RunAdministration } from "../../../src/event-log/runs/RunAdministration.ts"
import { EVENTS_PER_PREFIX } from "../../../src/streams/replay/ReplayStates.ts"
import { appendMessages, messageDraft } from "../../support/Appends.ts"
import { call, layerTestService, openStream } from "../../support/HttpService.ts"
import { aDeletion, createRun } from "../../support/Runs.ts"

const eventsOf = Effect.fnUntraced(function* (runId: RunId) {
  const { body } = yield* call("GET", `/runs/${runId}/events?limit=1000000`)
  const recorded: ReadonlyArray<unknown> = body
  return recorded.map((event): CanonicalEvent => Result.getOrThrow(decodeEvent(event)))
})

/** A run of six events, the last five 20 ms apart. */
const seeded = Effect.gen(function* () {
  const runId = yield* createRun()
  const log = yield* EventLog
  for (const number of [1, 2, 3, 4, 5]) {
    yield* log.record({ runId, events: [messageDraft(number, `2026-07-01T10:00:00.${number * 20 + 100}Z`)] })
  }
  return runId
})

layer(layerTestService(), { excludeTestServices: true })("the replay of a run", (it) => {
  // docs/reference/streams.md#replay: defaults, echoed bounds, relative addresses
  const descriptors: ReadonlyArray<readonly [unknown, Readonly<Record<string, unknown>>, string]> = [
    [undefined, { mode: "timed", speed: 1 }, "mode=timed&speed=1"],
    [{}, { mode: "timed", speed: 1 }, "mode=timed&speed=1"],
    [{ mode: "step" }, { mode: "step", speed: 1 }, "mode=step&speed=1"],
    [
      { mode: "timed", speed: 0.1, fromSeq: 1, toSeq: 9 },
      { mode: "timed", speed: 0.1, fromSeq: 1, toSeq: 9 },
      "mode=timed&speed=0.1&fromSeq=1&toSeq=9"
    ],
    [{ mode: "instant", speed: 1e21 }, { mode: "instant", speed: 1e21 }, "mode=instant&speed=1e%2B21"]
  ]
  for (const [body, expected, query] of descriptors) {
    it.effect(`is described for ${JSON.stringify(body)}, and its addresses work`, () =>
      Effect.gen(function* () {
        const runId = yield* createRun()
        const answer = yield* call("POST", `/runs/${runId}/replay`, { body })
        assert.strictEqual(answer.status, 201)
        const streamUrl = `/runs/${runId}/replay/stream?${query}`
        assert.deepStrictEqual(answer.body, { runId, ...expected, streamUrl, stateUrl: `/runs/${runId}/replay/state` })
        const stream = yield* openStream(answer.body.streamUrl)
        assert.strictEqual(stream.status, 200)
        yield* stream.rest
        assert.strictEqual((yield* call("GET", answer.body.stateUrl)).status, 200)
      })
    )
  }

  for (const [body, message] of [
    [{ mode: "fast" }, "mode must be one of the following values: instant, timed, step"],
    [{ speed: 0.05 }, "speed must not be less than 0.1"],
    [{ speed: "1" }, "speed must be a number conforming to the specified constraints"],
    [{ fromSeq: 0 }, "fromSeq must not be less than 1"],
    [{ toSeq: 1.5 }, "toSeq must be an integer number"],
    [{ from: 1 }, "property from should not exist"]
  ] as const) {
    it.effect(`is refused for ${JSON.stringify(body)}`, () =>
      Effect.gen(function* () {
        const runId = yield* createRun()
        const answer = yield* call("POST", `/runs/${runId}/replay`, { body })
        assert.strictEqual(answer.status, 400)
        assert.include(answer.body.message, message)
      })
    )
  }

  for (const path of [
    "stream?mode=fast",
    "stream?speed=0",
    "stream?speed=x",
    "stream?fromSeq=0",
    "state?seq=x",
    "state?seq=1.5"
  ]) {
    it.effect(`refuses ${path}`, () =>
      Effect.gen(function* () {
        const runId = yield* createRun()
        const { body, status } = yield* call("GET", `/runs/${runId}/replay/${path}`)
        assert.strictEqual(status, 400)
        assert.strictEqual(body.errorCode, "VALIDATION_ERROR")
      })
    )
  }

  it.effect("returns 404 for an unknown run, and 400 for an invalid id", () =>
    Effect.gen(function* () {
      for (const [method, path] of [
        ["POST", "replay"],
        ["GET", "replay/stream"],
        ["GET", "replay/state"]
      ] as const) {
        const unknown = yield* call(method, `/runs/${randomUUID()}/${path}`)
        assert.strictEqual(unknown.status, 404)
        assert.strictEqual(unknown.body.errorCode, "RUN_NOT_FOUND")
        assert.strictEqual((yield* call(method, `/runs/x/${path}`)).status, 400)
      }
    })
  )

  for (const mode of ["instant", "timed", "step"]) {
    it.effect(`streams the stored events and ends, in mode ${mode}`, () =>
      Effect.gen(function* () {
        const runId = yield* seeded
        const events = yield* eventsOf(runId)
        const stream = yield* openStream(`/runs/${runId}/replay/stream?mode=${mode}&speed=2`)
        assert.strictEqual(stream.headers.get("content-type"), "text/event-stream")
        const frames = yield* stream.rest
        assert.deepStrictEqual(
          frames,
          events.map((event) => ({ event: "canonical_event", id: String(event.seq), data: event.recorded }))
        )
      })
    )
  }

  it.effect("streams the events between two seqs, both included, and a long log in batches", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      yield* appendMessages(runId, 1_500, 500)
      const events = yield* eventsOf(runId)
      const [from, to] = [events[2]?.seq, events[1_400]?.seq]
      const stream = yield* openStream(`/runs/${runId}/replay/stream?mode=instant&fromSeq=${from}&toSeq=${to}`)
      const frames = yield* stream.rest
      assert.deepStrictEqual(
        frames.map((frame) => frame.data.index),
        events.slice(2, 1_401).map((event) => event.index)
      )
    })
  )

  it.effect("stops when its client leaves", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      const log = yield* EventLog
      const events = Array.from({ length: 100 }, (_, number) =>
        messageDraft(number, new Date(Date.parse("2026-07-01T10:00:00Z") + number * 2_000).toISOString())
      )
      yield* log.record({ runId, events })
      const open = Effect.map(call("GET", "/metrics"), ({ text }) => /^active_sse_connections (\d+)$/m.exec(text)?.[1])
      yield* Effect.scoped(
        Effect.gen(function* () {
          const stream = yield* openStream(`/runs/${runId}/replay/stream`)
          yield* stream.next
          assert.strictEqual(yield* open, "1")
        })
      )
      yield* until(open, (count) => count === "0")
    })
  )
})

layer(layerTestService(), { excludeTestServices: true })("the state of a run as of an event", (it) => {
  const stateAt = (runId: RunId, seq?: number) =>
    Effect.map(call("GET", `/runs/${runId}/replay/state${seq === undefined ? "" : `?seq=${seq}`}`), ({ text }) => text)
  const prefix = (events: ReadonlyArray<CanonicalEvent>, runId: RunId, seq: number) =>
    JSON.stringify(events.filter((event) => event.seq <= seq).reduce(project, emptyRunState(runId)))

  it.effect("is the fold of the events up to it, at every position and in every order", () =>
    Effect.gen(function* () {
      const runId = yield* seeded
      const other = yield* seeded
      const events = yield* eventsOf(runId)
      const positions = [0, 1, ...events.flatMap(({ seq }) => [seq, seq + 1])]
      for (const seq of [...positions, ...positions.toReversed()]) {
        assert.strictEqual(yield* stateAt(runId, seq), prefix(events, runId, seq))
      }
      assert.strictEqual(
        yield* stateAt(other, events.at(-1)?.seq),
        prefix(yield* eventsOf(other), other, events.at(-1)?.seq ?? 0)
      )
    })
  )

  it.effect("is the live state at the end of the log", () =>
    Effect.gen(function* () {
      const runId = yield* seeded
      const live = yield* call("GET", `/runs/${runId}/state`)
      assert.strictEqual(yield* stateAt(runId), live.text)
      assert.strictEqual(yield* stateAt(runId, 999_999_999_999), live.text)
    })
  )

  it.effect("is right in a log of many pages", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      yield* appendMessages(runId, EVENTS_PER_PREFIX + 1_200, 1_000)
      const events = yield* eventsOf(runId)
      for (const position of [
        EVENTS_PER_PREFIX + 1_100,
        499,
        EVENTS_PER_PREFIX - 1,
        EVENTS_PER_PREFIX,
        EVENTS_PER_PREFIX + 1
      ]) {
        const seq = events[position]?.seq ?? 0
        assert.strictEqual(yield* stateAt(runId, seq), prefix(events, runId, seq))
      }
    })
  )

  it.effect("is not that of a deleted run whose id is used again", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const upkeep = yield* RunAdministration
      const runId = yield* seeded
      const before = yield* eventsOf(runId)
      yield* stateAt(runId, before[3]?.seq)
      yield* sql.withTransaction(upkeep.remove([runId], aDeletion))
      assert.strictEqual((yield* call("GET", `/runs/${runId}/replay/state`)).status, 404)
      yield* createRun({ id: runId })
      yield* appendMessages(runId, 4)
      const events = yield* eventsOf(runId)
      const seq = events[3]?.seq ?? 0
      assert.strictEqual(yield* stateAt(runId, seq), prefix(events, runId, seq))
    })
  )
})
