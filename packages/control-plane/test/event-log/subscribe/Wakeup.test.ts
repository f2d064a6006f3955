import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Subscription } from "../../../src/event-log/subscribe/Subscription.ts"
import { Wakeup } from "../../../src/event-log/subscribe/Wakeup.ts"
import { MemoryLog } from "../../streams/MemoryLog.ts"

// docs/reference/streams.md#one-write
describe("an item after a wait that ended at once", () => {
  it.effect("stays in the queue of the subscriber of a run", () =>
    Effect.gen(function* () {
      const subscription = new Subscription()
      subscription.wake()
      yield* subscription.wait(() => assert.fail("the subscriber does not wait"))
      const batch = new MemoryLog().commit(1)
      subscription.put(batch)
      assert.strictEqual(subscription.poll(), batch)
    })
  )

  it.effect("wakes the subscriber of the log", () =>
    Effect.gen(function* () {
      const wakeup = new Wakeup()
      wakeup.wake()
      yield* wakeup.wait(() => assert.fail("the subscriber does not wait"))
      assert.isFalse(wakeup.offer(undefined))
      wakeup.wake()
      // The next wait ends at once.
      yield* wakeup.wait(() => assert.fail("the subscriber does not wait"))
    })
  )
})
