import { connect } from "node:net"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { RunId, runCancelled } from "@runplane/domain"
import { Shutdown } from "@runplane/server"
import { type SseFrame, until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as HttpServer from "effect/http/HttpServer"
import * as Queue from "effect/Queue"
import { EventLog } from "../../../src/event-log/EventLog.ts"
import { LiveEvents } from "../../../src/event-log/subscribe/LiveEvents.ts"
import { RunStream } from "../../../src/streams/run/RunStream.ts"
import { StreamTickets } from "../../../src/streams/run/StreamTickets.ts"
import { appendMessages } from "../../support/Appends.ts"
import { call, layerTestService, openStream } from "../../support/HttpService.ts"
import { createRun } from "../../support/Runs.ts"

const cancel = Effect.fnUntraced(function* (runId: RunId) {
  const log = yield* EventLog
  const events = (_: unknown, at: string) => [
    runCancelled({ ts: at, runId, traceId: "t", runtimeSessionId: runId, endedAt: at })
  ]
  yield* log.change({ runId, to: "cancelled", events })
})

const canonical = (frames: ReadonlyArray<SseFrame>) => frames.filter((frame) => frame.event === "canonical_event")
const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, offset) => from + offset)

/** Indexes have no gaps and repeats, seqs ascend, ids are the seqs, and snapshots never go back. */
const assertInOrder = (frames: ReadonlyArray<SseFrame>, firstIndex: number, lastIndex: number) => {
  const events = canonical(frames)
  assert.deepStrictEqual(
    events.map((frame) => frame.data.index),
    numbers(firstIndex, lastIndex)
  )
  events.forEach((frame, position) => {
    assert.strictEqual(frame.id, String(frame.data.seq))
    if (position > 0) assert.isAbove(frame.data.seq, events[position - 1]?.data.seq)
  })
  const snapshots = frames.filter((frame) => frame.event === "snapshot").map((frame) => frame.data.timeline.latestIndex)
  assert.deepStrictEqual(
    snapshots,
    [...snapshots].sort((left, right) => left - right)
  )
}

// No observer claims the runs, because it would append events.
layer(layerTestService({ observer: { recoveryEnabled: false } }), { excludeTestServices: true })(
  "GET /runs/:id/stream",
  (it) => {
    it.effect("has tickets: for one run, one minute, one use", () =>
      Effect.gen(function* () {
        const [runId, other] = [yield* createRun(), yield* createRun()]
        const tickets = yield* StreamTickets
        const sql = yield* PgClient.PgClient
        const get = Effect.map(call("POST", `/runs/${runId}/stream-tickets`), ({ body, status }) => {
          assert.strictEqual(status, 201)
          assert.strictEqual(body.streamUrl, `/runs/${runId}/stream?ticket=${body.ticket}`)
          assert.closeTo(Date.parse(body.expiresAt) - Date.now(), 60_000, 30_000)
          const ticket: string = body.ticket
          return ticket
        })
        const ticket = yield* get
        assert.isUndefined(yield* tickets.redeem(ticket, other))
        assert.isUndefined(yield* tickets.find(ticket, other))
        assert.strictEqual((yield* tickets.find(ticket, runId))?.actorId, "anonymous")
        assert.deepStrictEqual(yield* tickets.redeem(ticket, runId), {
          actorId: "anonymous",
          actorType: "anonymous",
          role: "admin"
        })
        assert.isUndefined(yield* tickets.redeem(ticket, runId))
        const ann = { actorId: "user:f3b1", actorType: "user", name: "user:ann", role: "viewer" } as const
        assert.deepStrictEqual(yield* tickets.redeem((yield* tickets.issue(runId, ann)).ticket, runId), ann)
        const late = yield* get
        // The clock of the database is finer than that of the service.
        yield* sql`UPDATE stream_tickets SET expires_at = now() - interval '1 millisecond'`
        assert.isUndefined(yield* tickets.redeem(late, runId))
        yield* get
        const rows = yield* sql`SELECT * FROM stream_tickets`
        assert.lengthOf(rows, 1)
        assert.notInclude(JSON.stringify(rows), ticket)
        const missing = yield* call("POST", "/runs/5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10/stream-tickets")
        assert.strictEqual(missing.status, 404)
      })
    )

    it.effect("opens at once with the headers of an event stream and a snapshot", () =>
      Effect.gen(function* () {
        const runId = yield* createRun()
        const stream = yield* openStream(`/runs/${runId}/stream`)
        assert.strictEqual(stream.status, 200)
        assert.strictEqual(stream.headers.get("content-type"), "text/event-stream")
        assert.strictEqual(
          stream.headers.get("cache-control"),
          "private, no-cache, no-store, must-revalidate, max-age=0, no-transform"
        )
        assert.strictEqual(stream.headers.get("x-accel-buffering"), "no")
        const first = yield* stream.next
        assert.strictEqual(first?.event, "snapshot")
        assert.isUndefined(first?.id)
        const state = yield* call("GET", `/runs/${runId}/state`)
        assert.deepStrictEqual(first?.data, state.body)
      })
    )

    it.effect("fails before the response begins when the run is deleted while it opens", () =>
      Effect.gen(function* () {
        const runId = RunId.make("00000000-0000-4000-8000-000000000404")
        const options = { afterSeq: 0, includeSnapshot: true, snapshotIntervalMs: 10, heartbeatMs: 1_000 }
        const open = RunStream.use((streams) => streams.open(runId, { ...options, snapshots: "all" }))
        assert.strictEqual((yield* Effect.flip(open))._tag, "RunGone")
      })
    )

    it.effect("sends each batch's events, then the snapshot that includes them, to every subscriber", () =>
      Effect.gen(function* () {
        const runId = yield* createRun()
        // Without a first snapshot only the headers show that the stream is open, so they must not wait for a frame.
        const bare = yield* openStream(`/runs/${runId}/stream?includeSnapshot=false`)
        yield* appendMessages(runId, 2, 2)
        const frames = [yield* bare.next, yield* bare.next, yield* bare.next]
        assert.deepStrictEqual(
          frames.map((frame) => frame?.event),
          ["canonical_event", "canonical_event", "snapshot"]
        )
        assert.strictEqual(frames[2]?.data.timeline.latestIndex, 3)
      })
    )

    it.effect("backfills after afterSeq, also 0, and not without it", () =>
      Effect.gen(function* () {
        const runId = yield* createRun()
        yield* appendMessages(runId, 1_200, 300)
        const all = yield* openStream(`/runs/${runId}/stream?afterSeq=0`)
        const some = yield* openStream(`/runs/${runId}/stream?afterSeq=0&includeSnapshot=false`)
        const none = yield* openStream(`/runs/${runId}/stream`)
        yield* cancel(runId)
        const received = yield* all.rest
        assert.strictEqual(received[0]?.event, "snapshot")
        assert.strictEqual(received.at(-1)?.event, "snapshot")
        assert.strictEqual(received.at(-1)?.data.run.status, "cancelled")
        assertInOrder(received, 1, 1_202)
        assertInOrder(yield* some.rest, 1, 1_202)
        assertInOrder(yield* none.rest, 1_202, 1_202)
      })
    )

    it.effect("resumes after Last-Event-ID; afterSeq wins over it; other text is ignored", () =>
      Effect.gen(function* () {
        const runId = yield* createRun()
        yield* appendMessages(runId, 10)
        const { body: events } = yield* call("GET", `/runs/${runId}/events`)
        const seqAt = (index: number) => String(events[index - 1].seq)
        const byHeader = yield* openStream(`/runs/${runId}/stream`, { "last-event-id": seqAt(8) })
        const byQuery = yield* openStream(`/runs/${runId}/stream?afterSeq=${seqAt(10)}`, { "last-event-id": seqAt(3) })
        const ignored = yield* openStream(`/runs/${runId}/stream`, { "last-event-id": "12abc" })
        yield* cancel(runId)
        assertInOrder(yield* byHeader.rest, 9, 12)
        assertInOrder(yield* byQuery.rest, 11, 12)
        assertInOrder(yield* ignored.rest, 12, 12)
      })
    )

    it.effect("switches from the database to live events without gap or repeat, under load", () =>
      Effect.gen(function* () {
        const runId = yield* createRun()
        const writer = yield* Effect.forkChild(appendMessages(runId, 1_000, 5))
        const opened = yield* Queue.unbounded<SseFrame | undefined>()
        const client = Effect.fnUntraced(function* (number: number) {
          const stream = yield* openStream(`/runs/${runId}/stream?afterSeq=0`)
          const first = yield* stream.next
          yield* Queue.offer(opened, first)
          // Some are slow, so that the log is ahead of them.
          if (number % 3 === 0) yield* Fiber.join(writer)
          return first === undefined ? [] : [first, ...(yield* stream.rest)]
        })
        const clients = yield* Effect.forEach(numbers(1, 25), (number) => Effect.forkScoped(client(number)))
        yield* Effect.forEach(clients, () => Queue.take(opened))
        yield* Fiber.join(writer)
        yield* cancel(runId)
        for (const client of clients) assertInOrder(yield* Fiber.join(client), 1, 1_002)
      })
    )

    it.effect("sends a slow reader all events from the database", () =>
      Effect.gen(function* () {
        const runId = yield* createRun()
        const slow = yield* openStream(`/runs/${runId}/stream`)
        yield* slow.next
        // More bytes than the buffers of a connection hold.
        yield* appendMessages(runId, 1_500, 10, "x".repeat(10_000))
        yield* cancel(runId)
        assertInOrder(yield* slow.rest, 2, 1_502)
      })
    )

    it.effect("reads the database after a gap, and finds unpublished events", () =>
      Effect.gen(function* () {
        // The service would adopt a queued run as a new run of another process.
        const runId = yield* createRun({ status: "starting" })
        const stream = yield* openStream(`/runs/${runId}/stream`)
        yield* stream.nextOf("snapshot")
        const live = yield* LiveEvents
        live.poke(runId)
        yield* appendMessages(runId, 3)
        live.poke(runId)
        yield* cancel(runId)
        assertInOrder(yield* stream.rest, 2, 5)
      })
    )

    it.effect("keeps a stream of an ended run open, with heartbeats of its last event", () =>
      Effect.gen(function* () {
        const runId = yield* createRun()
        yield* cancel(runId)
        const { body: events } = yield* call("GET", `/runs/${runId}/events`)
        const stream = yield* openStream(`/runs/${runId}/stream?heartbeatMs=1000`)
        const first = yield* stream.next
        assert.strictEqual(first?.data.run.status, "cancelled")
        const beat = yield* stream.next
        assert.strictEqual(beat?.event, "heartbeat")
        assert.isUndefined(beat?.id)
        assert.deepStrictEqual(Object.keys(beat?.data), ["ts", "seq", "index"])
        assert.strictEqual(beat?.data.seq, events.at(-1).seq)
        assert.strictEqual(beat?.data.index, 2)
        // A late frame of the session is still sent.
        yield* appendMessages(runId, 1)
        assert.strictEqual((yield* stream.nextOf("canonical_event"))?.data.index, 3)
      })
    )

    for (const query of ["heartbeatMs=999", "heartbeatMs=1.5", "heartbeatMs=x", "afterSeq=-1", "afterSeq=x"]) {
      it.effect(`rejects ?${query} before the stream starts`, () =>
        Effect.gen(function* () {
          const runId = yield* createRun()
          const { body, status } = yield* call("GET", `/runs/${runId}/stream?${query}`)
          assert.strictEqual(status, 400)
          assert.strictEqual(body.errorCode, "VALIDATION_ERROR")
        })
      )
    }

    it.effect("serves HTTP/1.0 without chunked encoding, also in direct writes", () =>
      Effect.gen(function* () {
        const { address } = yield* HttpServer.HttpServer
        const runId = yield* createRun()
        const socket = yield* Effect.acquireRelease(
          Effect.sync(() => connect({ host: "127.0.0.1", port: "port" in address ? address.port : 0 })),
          (opened) => Effect.sync(() => opened.destroy())
        )
        let text = ""
        socket.setEncoding("utf8").on("data", (piece) => {
          text += piece
        })
        socket.write(`GET /runs/${runId}/stream?snapshots=first HTTP/1.0\r\n\r\n`)
        const receive = (wanted: RegExp) =>
          until(
            Effect.sync(() => text),
            (all) => wanted.test(all)
          )
        yield* receive(/\r\n\r\nevent: snapshot\ndata: .*\n\n$/)
        for (const index of [2, 3, 4]) {
          yield* appendMessages(runId, 1, 1)
          yield* receive(new RegExp(`\n\nevent: canonical_event\nid: .*\ndata: .*"index":${index},.*\n\n$`))
        }
      }).pipe(Effect.scoped)
    )

    it.effect("counts the open streams", () =>
      Effect.gen(function* () {
        const runId = yield* createRun()
        const open = Effect.map(call("GET", "/metrics"), ({ text }) =>
          Number(/^active_sse_connections (\d+)$/m.exec(text)?.[1])
        )
        const before = yield* open
        yield* Effect.scoped(
          Effect.gen(function* () {
            const stream = yield* openStream(`/runs/${runId}/stream`)
            yield* stream.next
            assert.strictEqual(yield* open, before + 1)
          })
        )
        yield* until(open, (count) => count === before)
      })
    )
  }
)

layer(layerTestService(), { excludeTestServices: true })("a service that stops", (it) => {
  it.effect("reports that it is not ready, and ends its streams with a reconnect delay", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      const stream = yield* openStream(`/runs/${runId}/stream`)
      yield* stream.next
      yield* Shutdown.use((shutdown) => shutdown.begin)
      assert.match((yield* stream.nextText) ?? "", /^retry: \d{3,4}$/)
      assert.isUndefined(yield* stream.next)
      const { body, status } = yield* call("GET", "/readyz?strict=true")
      assert.strictEqual(status, 503)
      assert.deepInclude(body, { status: "degraded", ok: false, stopping: true })
      assert.strictEqual((yield* call("GET", "/livez")).status, 200)
    })
  )
})
