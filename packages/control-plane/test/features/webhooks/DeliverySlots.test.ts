import { describe, expect, it } from "@effect/vitest"
import { type DeliverySlot, makeDeliverySlots } from "../../../src/features/webhooks/DeliverySlots.ts"

const others = (kind: DeliverySlot["kind"]): DeliverySlot => ({ lane: "others", kind })

describe("the slots of a process", () => {
  it.each([
    [64, 4, { all: 64, extra: 32, slowed: 16 }],
    [4, 4, { all: 4, extra: 3, slowed: 1 }],
    [2, 4, { all: 2, extra: 1, slowed: 1 }],
    [1, 4, { all: 1, extra: 0, slowed: 1 }]
  ])("of %d with %d a subscription", (total, perSubscription, expected) => {
    const slots = makeDeliverySlots(total, perSubscription)
    expect(slots.free()).toEqual({ alerts: expected, others: expected })
  })

  it("leave a quarter to subscriptions that answer and have no attempt yet", () => {
    const slots = makeDeliverySlots(64, 4)
    for (let taken = 0; taken < 32; taken++) slots.take(others("extra"))
    for (let taken = 0; taken < 16; taken++) slots.take(others("slowed"))
    expect(slots.free().others).toEqual({ all: 16, extra: 0, slowed: 0 })
    for (let taken = 0; taken < 16; taken++) slots.take(others("first"))
    expect(slots.free()).toEqual({
      alerts: { all: 64, extra: 32, slowed: 16 },
      others: { all: 0, extra: 0, slowed: 0 }
    })
    slots.release(others("slowed"))
    expect(slots.free().others).toEqual({ all: 1, extra: 0, slowed: 1 })
  })
})
