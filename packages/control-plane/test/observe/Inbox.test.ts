import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { observed } from "../../src/event-log/append/FrameBytes.ts"
import { makeInbox, OTHERS_WAITING } from "../../src/observe/Inbox.ts"

const frame = (code: string) =>
  observed(
    {
      kind: "stream-inline-error",
      error: { code, message: "", sessionId: "", messageId: "", details: new Uint8Array() }
    } as const,
    ""
  )

/** An inbox whose frames are due when the answered effect has been run. */
const inboxWith = Effect.gen(function* () {
  const due = yield* Deferred.make<void>()
  const inbox = yield* makeInbox({
    budget: { hold: (_, hand) => Effect.sync(hand), give: () => {} },
    pace: { come: () => {}, due: Deferred.await(due) },
    appendBytes: 1_000_000,
    prepare: (frames) => frames
  })
  return { inbox, letGo: Deferred.succeed(due, undefined) }
})

describe("Inbox", () => {
  it.effect("gives out with frames that wait for their time what has come meanwhile", () =>
    Effect.gen(function* () {
      const { inbox, letGo } = yield* inboxWith
      yield* inbox.putFrames(1, [frame("A")])
      const next = yield* Effect.forkChild(inbox.next, { startImmediately: true })
      yield* inbox.putFrames(1, [frame("B")])
      yield* inbox.put({ _tag: "Tick" })
      yield* inbox.putFrames(1, [frame("C")])
      assert.isUndefined(next.pollUnsafe())
      yield* letGo
      const batch = yield* Fiber.join(next)
      assert.deepStrictEqual(batch._tag === "Frames" ? batch.frames : [], [frame("A"), frame("B")])
      assert.strictEqual((yield* inbox.next)._tag, "Tick")
      assert.strictEqual((yield* inbox.next)._tag, "Frames")
    })
  )

  it.effect("gives out everything else at once", () =>
    Effect.gen(function* () {
      const { inbox } = yield* inboxWith
      yield* inbox.put({ _tag: "Tick" })
      assert.strictEqual((yield* inbox.next)._tag, "Tick")
      inbox.reply({ _tag: "Started" })
      assert.strictEqual((yield* inbox.next)._tag, "Started")
    })
  )

  it.effect("hears of what has come at any time, and of the newest alone while it is full", () =>
    Effect.gen(function* () {
      const { inbox } = yield* inboxWith
      const heard = (state: "OPEN" | "SUSPENDED" | "RESOLVED") =>
        inbox.hear({ _tag: "State", state, snapshot: undefined })
      const nextState = Effect.map(inbox.next, (happening) => (happening._tag === "State" ? happening.state : "none"))
      heard("OPEN")
      for (let waiting = 1; waiting < OTHERS_WAITING; waiting++) yield* inbox.put({ _tag: "Tick" })
      heard("SUSPENDED")
      heard("RESOLVED")
      assert.strictEqual(yield* nextState, "OPEN")
      for (let waiting = 1; waiting < OTHERS_WAITING; waiting++) assert.strictEqual(yield* nextState, "none")
      assert.strictEqual(yield* nextState, "RESOLVED")
      heard("SUSPENDED")
      assert.strictEqual(yield* nextState, "SUSPENDED")
    })
  )

  it.effect("gives out the frames it holds before it fails", () =>
    Effect.gen(function* () {
      const { inbox, letGo } = yield* inboxWith
      yield* inbox.putFrames(1, [frame("A")])
      const next = yield* Effect.forkChild(inbox.next, { startImmediately: true })
      yield* inbox.die("broken")
      yield* letGo
      assert.strictEqual((yield* Fiber.join(next))._tag, "Frames")
      assert.strictEqual((yield* Effect.exit(inbox.next))._tag, "Failure")
    })
  )
})
