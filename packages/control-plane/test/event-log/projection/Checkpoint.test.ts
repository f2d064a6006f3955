import { assert, describe, it } from "@effect/vitest"
import { emptyRunState } from "@runplane/domain"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { makeByteCache } from "../../../src/event-log/projection/ByteCache.ts"
import { isCheckpointDue, NO_CHECKPOINT, readState } from "../../../src/event-log/projection/Checkpoint.ts"

describe("a checkpoint", () => {
  const lag = { lagEvents: 100, lagMs: 1_000 }
  const stored = { index: 500, at: 10_000 }
  const cases: ReadonlyArray<readonly [string, lastIndex: number, now: number, due: boolean]> = [
    ["is not due when nothing has happened, however long ago it was written", 500, 99_000, false],
    ["is not due for a few events right after it", 599, 10_999, false],
    ["is due for a hundred events, however fast they come", 600, 10_000, true],
    ["is due for a single event when its time is up", 501, 11_000, true]
  ]
  for (const [says, lastIndex, now, due] of cases) {
    it(says, () => assert.strictEqual(isCheckpointDue(stored, lastIndex, now, lag), due))
  }

  it("is due with the first events of a run, and of a process", () =>
    assert.isTrue(isCheckpointDue(NO_CHECKPOINT, 1, 0, lag)))

  it("is read as it was stored, and rejected when it is not a state", () => {
    const text = JSON.stringify({ ...emptyRunState("r"), run: { status: "running", runId: "r" } })
    assert.strictEqual(JSON.stringify(Option.getOrUndefined(readState(text))), text)
    for (const other of [null, "", "{", "{}", '{"of":"another time"}', "[]"])
      assert.isTrue(Option.isNone(readState(other)))
  })
})

describe("a cache of bytes", () => {
  const step = Schema.Struct({
    key: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 })),
    bytes: Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 60 })))
  })

  it.prop("never holds more than its bytes, and what was put in last", [Schema.Array(step)], ([steps]) => {
    const cache = makeByteCache<number, number>(100)
    const sizes = new Map<number, number>()
    steps.forEach(({ bytes, key }, position) => {
      if (bytes === null) cache.forget(key)
      else cache.put(key, position, bytes)
      sizes.set(key, bytes ?? 0)
      assert.strictEqual(cache.get(key), bytes === null ? undefined : position)
      let held = 0
      for (const [at, size] of sizes) held += cache.get(at) === undefined ? 0 : size
      assert.strictEqual(cache.bytes(), held)
      assert.isAtMost(held, 100)
    })
  })

  it("does not keep what alone is too large", () => {
    const cache = makeByteCache<string, string>(10)
    cache.put("a", "a", 4)
    cache.put("b", "b", 11)
    assert.isUndefined(cache.get("b"))
    assert.strictEqual(cache.bytes(), 0)
  })
})
