import type { Trial } from "@runplane/domain"

/** A decided run that cost and lasted the same as all others, with these members. */
export const trial = (members: Partial<Trial> & Pick<Trial, "outcome">): Trial => ({
  runId: "run",
  costUsd: 0.01,
  durationMs: 1_000,
  mindChanges: 0,
  models: [],
  ...members
})

/** A coin that is true with this probability, the same for the same seed. */
export const coin = (probability: number, seed: number): (() => boolean) => {
  const next = uniform(seed)
  return () => next() < probability
}

/** Numbers in [0, 1), the same for the same seed. */
export const uniform = (seed: number): (() => number) => {
  let state = seed
  return () => {
    // SplitMix32.
    state = (state + 0x9e3779b9) | 0
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 4_294_967_296
  }
}
