import { assert, describe, it } from "@effect/vitest"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Answers } from "../../src/people/Answers.ts"
import { ItemRows } from "../../src/people/ItemRows.ts"
import { ItemLimits, OpenLimits } from "../../src/people/OpenLimits.ts"
import { addSeat, ana, itemsWhen, itemWhen, makeWorld, propose, SEAT, shown, start } from "./SeatStage.ts"

const FIRST = "00000000-0000-4000-8000-0000000000a1"
const SECOND = "00000000-0000-4000-8000-0000000000a2"

const began = Effect.fnUntraced(function* (session: string) {
  yield* addSeat(session)
  yield* start(session)
  yield* propose(session)
})

const held = Effect.map(OpenLimits, (limits) => limits.held())

describe("the limit of open items", () => {
  it.live.each([
    ["the service", { service: 1, name: 10 }, "1 items are open, of at most 1"],
    ["a person", { service: 10, name: 1 }, "person:ana has 1 open items, of at most 1"]
  ] as const)("of %s keeps an item waiting, until an answer frees a position", ([, limits, reason]) =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      yield* Effect.gen(function* () {
        yield* began(FIRST)
        const item = yield* itemWhen(FIRST, "open")
        yield* began(SECOND)
        yield* itemsWhen(SECOND, (items) => items[0]?.state === "waiting")
        yield* until(held, ({ waiting }) => waiting === 1)
        assert.deepStrictEqual(yield* held, { waiting: 1, reason })
        const { ofSeat } = yield* ItemRows
        assert.strictEqual((yield* ofSeat(SECOND, SEAT))[0]?.state, "waiting")
        const { submit } = yield* Answers
        const content = { act: "reject", reason: "no" } as const
        yield* submit(item.id, ana, { content, proposalHash: item.proposalHash, basis: yield* shown(FIRST) })
        yield* itemWhen(SECOND, "open")
        yield* until(held, ({ waiting }) => waiting === 0)
      }).pipe(Effect.provide(layer().pipe(Layer.provide(Layer.succeed(ItemLimits, limits)))))
    })
  )
})
