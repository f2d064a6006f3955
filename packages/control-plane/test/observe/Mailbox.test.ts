import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { observed } from "../../src/event-log/append/FrameBytes.ts"
import { makeMailbox, OTHER_MESSAGES } from "../../src/observe/Mailbox.ts"

const frame = (code: string) =>
  observed(
    {
      kind: "stream-inline-error",
      error: { code, message: "", sessionId: "", messageId: "", details: new Uint8Array() }
    } as const,
    ""
  )

/** A mailbox whose frames are due when the returned effect has run. */
const mailboxWith = Effect.gen(function* () {
  const due = yield* Deferred.make<void>()
  const mailbox = yield* makeMailbox({
    budget: { acquire: (_, then) => Effect.sync(then), release: () => {} },
    delay: { come: () => {}, due: Deferred.await(due) },
    appendBytes: 1_000_000
  })
  return { mailbox, letGo: Deferred.succeed(due, undefined) }
})

describe("Mailbox", () => {
  it.effect("returns the frames that arrived during the batch delay together", () =>
    Effect.gen(function* () {
      const { mailbox, letGo } = yield* mailboxWith
      yield* mailbox.putFrames(1, [frame("A")])
      const next = yield* Effect.forkChild(mailbox.next, { startImmediately: true })
      yield* mailbox.putFrames(1, [frame("B")])
      yield* mailbox.put({ _tag: "Tick" })
      yield* mailbox.putFrames(1, [frame("C")])
      assert.isUndefined(next.pollUnsafe())
      yield* letGo
      const batch = yield* Fiber.join(next)
      assert.deepStrictEqual(batch._tag === "Frames" ? batch.frames : [], [frame("A"), frame("B")])
      assert.strictEqual((yield* mailbox.next)._tag, "Tick")
      assert.strictEqual((yield* mailbox.next)._tag, "Frames")
    })
  )

  it.effect("returns all other messages at once", () =>
    Effect.gen(function* () {
      const { mailbox } = yield* mailboxWith
      yield* mailbox.put({ _tag: "Tick" })
      assert.strictEqual((yield* mailbox.next)._tag, "Tick")
      mailbox.reply({ _tag: "Started" })
      assert.strictEqual((yield* mailbox.next)._tag, "Started")
    })
  )

  it.effect("accepts updates at any time, and only the newest one while it is full", () =>
    Effect.gen(function* () {
      const { mailbox } = yield* mailboxWith
      const update = (state: "OPEN" | "SUSPENDED" | "RESOLVED") =>
        mailbox.update({ _tag: "State", state, snapshot: undefined })
      const nextState = Effect.map(mailbox.next, (message) => (message._tag === "State" ? message.state : "none"))
      update("OPEN")
      for (let waiting = 1; waiting < OTHER_MESSAGES; waiting++) yield* mailbox.put({ _tag: "Tick" })
      update("SUSPENDED")
      update("RESOLVED")
      assert.strictEqual(yield* nextState, "OPEN")
      for (let waiting = 1; waiting < OTHER_MESSAGES; waiting++) assert.strictEqual(yield* nextState, "none")
      assert.strictEqual(yield* nextState, "RESOLVED")
      update("SUSPENDED")
      assert.strictEqual(yield* nextState, "SUSPENDED")
    })
  )

  it.effect("gives out the frames it holds before it fails", () =>
    Effect.gen(function* () {
      const { mailbox, letGo } = yield* mailboxWith
      yield* mailbox.putFrames(1, [frame("A")])
      const next = yield* Effect.forkChild(mailbox.next, { startImmediately: true })
      yield* mailbox.die("broken")
      yield* letGo
      assert.strictEqual((yield* Fiber.join(next))._tag, "Frames")
      assert.strictEqual((yield* Effect.exit(mailbox.next))._tag, "Failure")
    })
  )
})
