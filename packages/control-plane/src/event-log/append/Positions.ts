import type { ChainVersion } from "@runplane/domain"

/** What the rows of a transaction take, one after the other. */
export interface Positions {
  readonly seqs: ReadonlyArray<number>
  readonly ids: ReadonlyArray<string>
  /** Of the next event. */
  next: number
  /** For events and raw frames. */
  readonly seeds: ReadonlyArray<Uint8Array>
  nextSeed: number
}

/** The seed of the next row of a run; undefined in version 1 of the chain. */
export const takeSeed = (positions: Positions, version: ChainVersion): Uint8Array | undefined => {
  if (version === 1) return undefined
  const seed = positions.seeds[positions.nextSeed]
  // Without a seed of its own a value could be found by trying after its erasure.
  if (seed === undefined) throw new Error("there are fewer seeds than rows")
  positions.nextSeed += 1
  return seed
}
