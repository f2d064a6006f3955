/** Alerts have slots of their own, so that no number of slow receivers of other events delays them. */
export type DeliveryLane = "alerts" | "others"

/**
 * What a slot is used for: the only attempt of a subscription that is under way, a further one beside it, or the one of
 * a subscription whose receiver did not answer lately.
 */
export type SlotKind = "first" | "extra" | "slowed"

export interface DeliverySlot {
  readonly lane: DeliveryLane
  readonly kind: SlotKind
}

/** Free slots of a lane in this process. `extra` and `slowed` are the most of `all` that these kinds may use. */
export interface FreeSlots {
  readonly all: number
  readonly extra: number
  readonly slowed: number
}

const makeLane = (size: number, perSubscription: number) => {
  const limits = {
    first: size,
    // One subscription alone gets all its attempts also where the lane is small.
    extra: Math.max(Math.floor(size / 2), Math.min(size, perSubscription) - 1),
    slowed: Math.max(1, Math.floor(size / 4))
  }
  const used = { first: 0, extra: 0, slowed: 0 }
  const free = (): FreeSlots => {
    const all = Math.max(0, size - used.first - used.extra - used.slowed)
    const of = (kind: "extra" | "slowed") => Math.max(0, Math.min(all, limits[kind] - used[kind]))
    return { all, extra: of("extra"), slowed: of("slowed") }
  }
  return { used, free }
}

/**
 * The attempts of one process (docs/reference/webhooks.md#webhook-delivery): `total` slots for alerts and as many for
 * all other events. Half of a lane is for second and further attempts of a subscription, a quarter for slowed
 * subscriptions: what remains is free for a receiver that answers.
 */
export const makeDeliverySlots = (total: number, perSubscription: number) => {
  const lanes = { alerts: makeLane(total, perSubscription), others: makeLane(total, perSubscription) }
  return {
    free: (): Readonly<Record<DeliveryLane, FreeSlots>> => ({
      alerts: lanes.alerts.free(),
      others: lanes.others.free()
    }),
    take: ({ kind, lane }: DeliverySlot) => {
      lanes[lane].used[kind] += 1
    },
    release: ({ kind, lane }: DeliverySlot) => {
      lanes[lane].used[kind] -= 1
    }
  }
}
