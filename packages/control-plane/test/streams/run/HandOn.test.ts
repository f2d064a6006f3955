import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Subscription } from "../../../src/event-log/subscribe/Subscription.ts"
import { LogWakeup } from "../../../src/streams/log/LogWakeup.ts"
import { MemoryLog } from "../../support/MemoryLog.ts"

// docs/reference/http.md#one-write
describe("what comes after a wait that was over at once", () => {
  it.effect("is left to the subscriber of a run", () =>
    Effect.gen(function* () {
      const mailbox = new Subscription()
      mailbox.wake()
      yield* mailbox.waken(() => assert.fail("nobody waits"))
      const batch = new MemoryLog().commit(1)
      mailbox.put(batch)
      assert.strictEqual(mailbox.takeNow(), batch)
    })
  )

  it.effect("is left to the follower of the log", () =>
    Effect.gen(function* () {
      const news = new LogWakeup()
      news.wake()
      yield* news.wait(() => assert.fail("nobody waits"))
      news.clear()
      news.tell()
      // It would wait for ever, had the word been handed on to nobody.
      yield* news.wait(() => assert.fail("it has been told already"))
    })
  )
})
