import { timingSafeEqual } from "node:crypto"
import type { ChainVersion, Seal, SealedFrames } from "@runplane/domain"
import * as Hex from "effect/encoding/Hex"
import type { SealKey } from "../../platform/ledger/SealKeys.ts"
import { emptyChain, emptyFrames } from "./HashChain.ts"

/** The end of a run's log as its seal and the MAC of its head cover it. */
export interface ChainedEnd {
  readonly runId: string
  readonly lastIndex: number
  readonly version: ChainVersion
  /** Head of the hash chain after the last event. */
  readonly chain: Uint8Array
  readonly frames: FrameChain
  /** The key vouches only for the events after this index. */
  readonly provenAfter: number
  /** The events and head of the run's last seal; null without one. */
  readonly sealed: Seal["previous"]
}

/** The chain over the raw frames of a run, from the one behind `after` up to its last one. */
export interface FrameChain extends Pick<SealedFrames, "after" | "last"> {
  readonly head: Uint8Array
}

/** An end as `run_heads` stores it, with its MAC, hexadecimal; null without one. */
export interface StoredEnd extends ChainedEnd {
  readonly mac: string | null
}

/** The columns of `run_heads` that make a `StoredEnd`; bytes in hexadecimal. */
export interface ProofRow {
  readonly last_index: number
  readonly last_raw_seq: number
  readonly chain_head: string | null
  readonly sealed_index: number
  readonly sealed_head: string | null
  readonly proven_after: number
  readonly frames_after: number
  readonly frames_head: string | null
  readonly head_mac: string | null
  readonly chain_version: number
}

/** Chains without an entry are not stored: they begin with the run's id. */
export const chainedEnd = (runId: string, row: ProofRow): StoredEnd => {
  const version = row.chain_version === 2 ? 2 : 1
  return {
    runId,
    lastIndex: row.last_index,
    version,
    chain: row.chain_head === null ? emptyChain(version, runId) : Buffer.from(row.chain_head, "hex"),
    frames:
      row.frames_head === null
        ? framesBehind(version, runId, row.last_raw_seq)
        : { after: row.frames_after, last: row.last_raw_seq, head: Buffer.from(row.frames_head, "hex") },
    provenAfter: row.proven_after,
    sealed: row.sealed_head === null ? null : { events: row.sealed_index, head: row.sealed_head },
    mac: row.head_mac
  }
}

const framesBehind = (version: ChainVersion, runId: string, last: number): FrameChain => ({
  after: last,
  last,
  head: emptyFrames(version, runId)
})

/** The frames as a seal names them. */
export const sealedFrames = ({ after, head, last }: FrameChain): SealedFrames => ({
  after,
  last,
  head: Hex.encode(head)
})

/** The MAC of a head, hexadecimal (docs/reference/seal.md#proof); empty without a key. */
export const headMac = (key: SealKey | undefined, end: ChainedEnd): string => {
  const { chain, frames, lastIndex, provenAfter, runId, sealed, version } = end
  if (key === undefined) return ""
  const parts = [
    runId,
    lastIndex,
    Hex.encode(chain),
    provenAfter,
    frames.after,
    frames.last,
    Hex.encode(frames.head),
    sealed?.events ?? "",
    sealed?.head ?? ""
  ]
  // The first line has the version of the chains: a head of one cannot be passed off as one of the other.
  return key.mac(`runplane-head-v${version}\n${parts.join("\n")}`)
}

/** Whether a process with this key wrote the head. */
export const isVouched = (key: SealKey, end: StoredEnd): boolean => {
  const [expected, found] = [Buffer.from(headMac(key, end), "hex"), Buffer.from(end.mac ?? "", "hex")]
  return expected.length > 0 && expected.length === found.length && timingSafeEqual(expected, found)
}

/** A head as this process continues it: where its MAC is not of this key, nothing before is vouched for. */
export interface Vouched<A> {
  readonly head: A
  readonly isDoubted: boolean
}

/** The head that an append continues. Only the append that creates its run (`isNew`) finds a head without a MAC. */
export const vouchedHead = <A extends StoredEnd>(key: SealKey | undefined, head: A, isNew: boolean): Vouched<A> => {
  const isCreation = isNew && head.lastIndex === 0
  const isDoubted = key !== undefined && !isCreation && !isVouched(key, head)
  return { head: isDoubted ? unproven(head) : head, isDoubted }
}

/** The same end without a proof of its events so far. A log that was emptied lacks at least its first event. */
export const unproven = <A extends ChainedEnd>(end: A): A => ({
  ...end,
  provenAfter: Math.max(end.lastIndex, 1),
  frames: framesBehind(end.version, end.runId, end.frames.last)
})

/** What the log says of a head whose MAC is not of this process's key. */
export const doubtfulHead = ({ lastIndex, mac, runId }: StoredEnd): string =>
  `run ${runId}: the head at event ${lastIndex} ${mac === null ? "has no MAC" : "has a MAC of another key or of other content"}; ` +
  `its seal vouches only for the events behind it`
