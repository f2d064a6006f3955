import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { type CanonicalEventType, type RunId, runCancelled } from "@runplane/domain"
import type { Answer, SseFrame } from "@runplane/testing"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { EventLog } from "../../../src/event-log/EventLog.ts"
import { layerDatabase } from "../../../src/platform/postgres/Database.ts"
import { messageDraft } from "../../support/Appends.ts"
import { layerTestLog } from "../../support/ControlPlane.ts"
import { call, layerTestService, openStream } from "../../support/HttpService.ts"
import { createRun } from "../../support/Runs.ts"

const isEvent = (frame: SseFrame) => frame.event === "canonical_event"

/** The seqs of all pages of `GET /events`. */
const listed = Effect.fnUntraced(function* (path: string) {
  const seqs: Array<number> = []
  let after: number | undefined = 0
  while (after !== undefined) {
    const { body }: Answer = yield* call("GET", `/events?limit=1000&afterSeq=${after}${path}`)
    seqs.push(...body.data.map((event: { seq: number }) => event.seq))
    after = body.nextCursor
  }
  return seqs
})

const cancel = Effect.fnUntraced(function* (runId: RunId) {
  const log = yield* EventLog
  const events = (_: unknown, at: string) => [
    runCancelled({ ts: at, runId, traceId: "t", runtimeSessionId: runId, endedAt: at })
  ]
  yield* log.change({ runId, to: "cancelled", events })
})

layer(layerTestService({ observer: { recoveryEnabled: false } }), { excludeTestServices: true })(
  "GET /events/stream",
  (it) => {
    it.effect("begins with its position, continues with appended events, and resumes behind any frame", () =>
      Effect.gen(function* () {
        const log = yield* EventLog
        const runId = yield* createRun()
        const { lastSeq: before } = yield* log.record({ runId, events: [messageDraft(1)] })
        const stream = yield* openStream("/events/stream")
        assert.strictEqual(stream.status, 200)
        assert.strictEqual(stream.headers.get("content-type"), "text/event-stream")
        const first = yield* stream.next
        assert.deepStrictEqual([first?.event, first?.data.seq, first?.id], ["heartbeat", before, String(before)])
        const { lastSeq } = yield* log.record({ runId, events: [messageDraft(2), messageDraft(3)] })
        const frames = [yield* stream.next, yield* stream.next]
        assert.deepStrictEqual(
          frames.map((frame) => [frame?.event, frame?.id, frame?.data.seq]),
          [lastSeq - 1, lastSeq].map((seq) => ["canonical_event", String(seq), seq])
        )
        const { body } = yield* call("GET", `/events?afterSeq=${before}`)
        assert.deepStrictEqual(
          frames.map((frame) => frame?.data),
          body.data
        )
        const resumed = yield* openStream("/events/stream", { "last-event-id": String(before) })
        assert.strictEqual((yield* resumed.nextOf("canonical_event"))?.id, String(lastSeq - 1))
        const byQuery = yield* openStream(`/events/stream?afterSeq=${lastSeq - 1}`, { "last-event-id": "1" })
        assert.strictEqual((yield* byQuery.nextOf("canonical_event"))?.id, String(lastSeq))
      })
    )

    it.effect("names its position in heartbeats, also without matches", () =>
      Effect.gen(function* () {
        const log = yield* EventLog
        const runId = yield* createRun()
        const rare = yield* openStream("/events/stream?types=artifact.created&heartbeatMs=1000")
        const none = yield* openStream("/events/stream?q=sender:absent&heartbeatMs=1000")
        for (const stream of [rare, none]) assert.strictEqual((yield* stream.next)?.event, "heartbeat")
        const { lastSeq } = yield* log.record({ runId, events: [messageDraft(1), messageDraft(2)] })
        for (const stream of [rare, none]) {
          let frame = yield* stream.next
          while (frame !== undefined && frame.data.seq < lastSeq) frame = yield* stream.next
          assert.deepStrictEqual([frame?.event, frame?.data.seq, frame?.id], ["heartbeat", lastSeq, String(lastSeq)])
        }
      })
    )

    it.effect("rejects an invalid query before it begins", () =>
      Effect.gen(function* () {
        for (const [query, text] of [
          ["q=type:x", /^q at 6: "x" is not a value of type/],
          ["heartbeatMs=10", /^heartbeatMs must not be less than 1000/],
          ["afterSeq=-1", /^afterSeq must not be less than 0/]
        ] as const) {
          const { body, status } = yield* call("GET", `/events/stream?${query}`)
          assert.strictEqual(status, 400)
          assert.match(body.message[0], text)
        }
      })
    )

    it.effect("sends exactly the rows of GET /events in order, while two processes append", () =>
      Effect.gen(function* () {
        const { config } = yield* PgClient.PgClient
        const start = (yield* listed("")).at(-1) ?? 0
        const types: ReadonlyArray<CanonicalEventType> = ["message.received", "signal.emitted"]
        const served = yield* EventLog
        // Two writers use the log of the service, the others have their own, and half have their own pool. Each
        // append stays open for a while.
        const writer = Effect.fnUntraced(function* (number: number) {
          const sql = yield* PgClient.PgClient
          const own = Context.get(yield* Layer.build(Layer.fresh(layerTestLog)), EventLog)
          const log = number < 2 ? served : own
          const runId = yield* Effect.provideService(createRun(), EventLog, log)
          for (let append = 0; append < 20; append++) {
            const pause = ((number * 7 + append * 3) % 10) / 1000
            const isLost = (number + append) % 5 === 0
            const also = () => Effect.asVoid(sql`SELECT pg_sleep(${pause}::float8), 1 / ${isLost ? 0 : 1}::int`)
            const events = Array.from({ length: 1 + ((number + append) % 4) }, (_, offset) =>
              messageDraft(offset, undefined, "x".repeat(append % 7 === 0 ? 20_000 : 10), {
                sender: `agent://${number}`,
                type: types[(number + offset) % 2] ?? "message.received"
              })
            )
            assert.strictEqual(Exit.isFailure(yield* Effect.exit(log.record({ runId, events, also }))), isLost)
          }
        })
        const last = yield* Deferred.make<number>()
        /** Follows from the start, disconnects after some events, and resumes behind the last frame. */
        const follower = Effect.fnUntraced(function* (query: string, cutAfter: number, isSlow = false) {
          const seqs: Array<number> = []
          let lastId = String(start)
          const session = Effect.gen(function* () {
            const path = `/events/stream?heartbeatMs=1000&${query}`
            const stream = yield* openStream(path, { "last-event-id": lastId })
            // Frames that it does not read wait in the connection, and then in the database.
            if (isSlow) yield* Deferred.await(last)
            for (let taken = 0; taken < cutAfter; ) {
              const frame = yield* stream.next
              if (frame === undefined) return assert.fail("the stream ended")
              lastId = frame.id ?? lastId
              if (isEvent(frame)) {
                taken += 1
                seqs.push(frame.data.seq)
              } else if ((yield* Deferred.isDone(last)) && frame.data.seq >= (yield* Deferred.await(last))) return true
            }
            return false
          })
          yield* Effect.repeat(Effect.scoped(session), { until: (isDone) => isDone })
          return seqs
        })
        const followers = yield* Effect.forEach(
          [
            ["", "", 1_000_000, false],
            ["", "", 1_000_000, false],
            ["", "", 40, false],
            ["", "", 1_000_000, true],
            ["types=signal.emitted", "&type=signal.emitted", 30, false],
            ["q=sender:%22agent://3%22", "&q=sender:%22agent://3%22", 10, false],
            ["q=-sender:%22agent://3%22", "&q=-sender:%22agent://3%22", 1_000_000, true]
          ] as const,
          ([query, filter, cutAfter, isSlow]) =>
            Effect.map(Effect.forkChild(follower(query, cutAfter, isSlow)), (fiber) => ({ fiber, filter }))
        )
        const secondPool = yield* Layer.build(
          Layer.fresh(layerDatabase({ url: Redacted.value(config.url ?? Redacted.make("")), maxConnections: 10 }))
        )
        yield* Effect.all(
          [
            Effect.forEach([0, 1, 2, 3], writer, { concurrency: "unbounded" }),
            Effect.provideContext(Effect.forEach([4, 5, 6, 7], writer, { concurrency: "unbounded" }), secondPool)
          ],
          { concurrency: 2 }
        )
        yield* Deferred.succeed(last, (yield* listed("")).at(-1) ?? 0)
        for (const { fiber, filter } of followers) {
          const expected = (yield* listed(filter)).filter((seq) => seq > start)
          assert.deepStrictEqual(yield* Fiber.join(fiber), expected, filter)
        }
      }).pipe(Effect.scoped)
    )

    const waiting = (runId: RunId, timeoutMs: number) =>
      call("GET", `/runs/${runId}?wait=terminal&timeoutMs=${timeoutMs}`)

    it.effect("and GET /runs/:id?wait=terminal returns when the run has ended, or after the timeout", () =>
      Effect.gen(function* () {
        const runId = yield* createRun()
        const early = yield* waiting(runId, 50)
        assert.deepStrictEqual([early.status, early.body.status], [200, "queued"])
        const waiters = yield* Effect.forEach([1, 2, 3], () => Effect.forkChild(waiting(runId, 60_000)))
        yield* Effect.sleep("100 millis")
        yield* cancel(runId)
        for (const waiter of waiters) {
          const { body } = yield* Fiber.join(waiter)
          assert.strictEqual(body.status, "cancelled")
          assert.isString(body.endedAt)
        }
        assert.strictEqual((yield* waiting(runId, 60_000)).body.status, "cancelled")
        for (const query of ["wait=forever", "wait=terminal&timeoutMs=60001", "wait=terminal&timeoutMs=-1"]) {
          assert.strictEqual((yield* call("GET", `/runs/${runId}?${query}`)).status, 400, query)
        }
        const unknown = "5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10"
        assert.strictEqual((yield* call("GET", `/runs/${unknown}?wait=terminal`)).status, 404)
      })
    )
  }
)
