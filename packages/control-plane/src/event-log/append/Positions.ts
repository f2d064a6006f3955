import type { ChainVersion } from "@runplane/domain"
import * as Hex from "effect/encoding/Hex"

/** What the rows of a transaction take, one after the other. */
export interface Positions {
  readonly seqs: ReadonlyArray<number>
  readonly ids: ReadonlyArray<string>
  /** Of the next event. */
  next: number
  readonly seeds: Seeds
}

/** Seeds of the salts of events and raw frames. */
export interface Seeds {
  readonly bytes: Uint8Array
  /** The same bytes, hexadecimal: to encode them together costs a fifth. */
  readonly digits: string
  /** Of the next row. */
  next: number
}

/** A seed, and as the column of a row takes it. */
export interface Seed {
  readonly bytes: Uint8Array
  readonly text: string
}

const SEED_BYTES = 16

export const seedsOf = (bytes: Uint8Array): Seeds => ({ bytes, digits: Hex.encode(bytes), next: 0 })

/** The seed of the next row of a run; undefined in version 1 of the chain. */
export const takeSeed = (seeds: Seeds, version: ChainVersion): Seed | undefined => {
  if (version === 1) return undefined
  const start = SEED_BYTES * seeds.next
  const end = start + SEED_BYTES
  // Without a seed of its own a value could be found by trying after its erasure.
  if (end > seeds.bytes.length) throw new Error("there are fewer seeds than rows")
  seeds.next += 1
  return { bytes: seeds.bytes.subarray(start, end), text: `\\x${seeds.digits.slice(2 * start, 2 * end)}` }
}
