import { assert, describe, it } from "@effect/vitest"
import { emptyRunState, RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import { type FollowOptions, followRun } from "../../src/client/FollowRun.ts"

const runId = RunId.make("5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10")

const eventFrame = (seq: number, type = "message.received") => {
  const event = {
    ...{ id: `e${seq}`, runId, seq, index: seq, ts: "2026-07-01T10:00:00.000Z", type, schemaVersion: 1 },
    ...{ source: { kind: "runtime", name: "rust-runtime" }, data: {} }
  }
  return `event: canonical_event\nid: ${seq}\ndata: ${JSON.stringify(event)}\n\n`
}
const resetFrame = (seq: number, afterSeq: number) =>
  `event: reset\nid: ${seq}\ndata: ${JSON.stringify({ ts: "2026-07-01T10:00:00.000Z", seq, index: seq, afterSeq })}\n\n`
const snapshotFrame = `event: snapshot\ndata: ${JSON.stringify(emptyRunState(runId))}\n\n`

/** Follows a service that answers each connection with the next of these texts, and then closes it. */
const followed = Effect.fnUntraced(function* (connections: ReadonlyArray<string>, options: FollowOptions) {
  const cursors: Array<number | undefined> = []
  const api = {
    stream: {
      run: ({ headers, query }: { readonly headers: object; readonly query: { readonly afterSeq?: number } }) =>
        Effect.sync(() => {
          const lastId = "last-event-id" in headers ? Number(headers["last-event-id"]) : undefined
          cursors.push(query.afterSeq ?? lastId)
          return Stream.encodeText(Stream.make(connections[cursors.length - 1] ?? ""))
        })
    }
  } as unknown as Parameters<typeof followRun>[0]
  const taken = yield* followRun(api, runId, { snapshots: "first", ...options }).pipe(
    Stream.map((frame) => (frame.event === "canonical_event" ? frame.data.seq : frame.event)),
    Stream.runCollect,
    Effect.forkChild
  )
  for (let pause = 0; pause < 10; pause++) yield* TestClock.adjust("1 second")
  return { cursors, taken: yield* Fiber.join(taken) }
})

// docs/reference/streams.md#reset
describe("following a run over the restore of a backup", () => {
  it.effect("begins again after the requested seq", () =>
    Effect.gen(function* () {
      const { cursors, taken } = yield* followed(
        [
          eventFrame(11) + eventFrame(12) + eventFrame(13),
          resetFrame(11, 13) + snapshotFrame + eventFrame(12),
          eventFrame(11) + eventFrame(12) + eventFrame(14, "run.completed")
        ],
        { afterSeq: 10 }
      )
      assert.deepStrictEqual(cursors, [10, 13, 10])
      assert.deepStrictEqual(taken, [11, 12, 13, "reset", 11, 12, 14])
    })
  )

  it.effect("continues from the end when that seq is beyond it, or no seq was requested", () =>
    Effect.gen(function* () {
      for (const afterSeq of [20, undefined]) {
        const { cursors, taken } = yield* followed(
          [
            (afterSeq === undefined ? eventFrame(20) : "") + resetFrame(11, 20) + snapshotFrame,
            eventFrame(12, "run.completed")
          ],
          afterSeq === undefined ? {} : { afterSeq }
        )
        assert.deepStrictEqual(cursors, [afterSeq, 11])
        assert.deepStrictEqual(taken.slice(-3), ["reset", "snapshot", 12])
      }
    })
  )
})

describe("following a run behind a proxy that delivers again", () => {
  it.effect("gives each event once", () =>
    Effect.gen(function* () {
      const { cursors, taken } = yield* followed(
        [
          eventFrame(11) + eventFrame(12) + eventFrame(11) + eventFrame(12),
          eventFrame(10) + eventFrame(12) + eventFrame(13),
          eventFrame(13) + eventFrame(14, "run.completed")
        ],
        { afterSeq: 10 }
      )
      assert.deepStrictEqual(cursors, [10, 12, 13])
      assert.deepStrictEqual(taken, [11, 12, 13, 14])
    })
  )
})
