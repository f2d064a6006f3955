import * as Context from "effect/Context"

/**
 * What a seal cannot vouch for (docs/reference/seal.md#proof): the `head` of a run whose MAC is not of this process's
 * key, or a seal that was made `late`; a `ledger` that was cut or has entries that this key does not vouch for, and
 * entries of it that could not be `published`.
 */
export const sealDoubtKinds = ["head", "late", "ledger", "published"] as const
export type SealDoubt = (typeof sealDoubtKinds)[number]

/** Counts each such case: `runplane_seal_doubts_total`. */
export const SealMeter = Context.Reference<(doubt: SealDoubt) => void>("runplane/control-plane/SealMeter", {
  defaultValue: () => () => undefined
})
