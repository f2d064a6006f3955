import * as Context from "effect/Context"

/**
 * What a seal cannot vouch for (docs/seal.md#proof): the `head` of a run whose MAC is not of this process's key, or a
 * seal that was made `late`.
 */
export const sealDoubtKinds = ["head", "late"] as const
export type SealDoubt = (typeof sealDoubtKinds)[number]

/** Counts each such case: `runplane_seal_doubts_total`. */
export const SealMeter = Context.Reference<(doubt: SealDoubt) => void>("runplane/control-plane/SealMeter", {
  defaultValue: () => () => undefined
})
