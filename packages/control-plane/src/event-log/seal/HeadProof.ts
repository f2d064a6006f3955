import { timingSafeEqual } from "node:crypto"
import type { Seal, SealedFrames } from "@runplane/domain"
import * as Hex from "effect/encoding/Hex"
import type { SealKey } from "../../platform/ledger/SealKeys.ts"
import { emptyFrames } from "./HashChain.ts"

/** The end of a run's log, as far as its seal depends on it: what the MAC of its head is over. */
export interface ChainedEnd {
  readonly runId: string
  readonly lastIndex: number
  /**
   * Head of the hash chain after the last event; undefined while the chain lags behind (docs/reference/seal.md#chain).
   */
  readonly chain: Uint8Array | undefined
  readonly frames: FrameChain
  /** Events up to this position are as they were found, and not as a process with the key wrote them. */
  readonly provenAfter: number
  /** What the run's last seal covers; null without one. */
  readonly sealed: Seal["previous"]
}

/** The chain over the raw frames of a run, from the one behind `after` up to its last one. */
export interface FrameChain extends Pick<SealedFrames, "after" | "last"> {
  readonly head: Uint8Array
}

/** The columns of `run_heads` that make a `ChainedEnd`; bytes in hexadecimal. */
export interface ProofRow {
  readonly last_index: number
  readonly last_raw_seq: number
  readonly sealed_index: number
  readonly sealed_head: string | null
  readonly proven_after: number
  readonly frames_after: number
  readonly frames_index: number
  readonly frames_head: string | null
  readonly head_mac: string | null
}

/** The frames of a release that did not chain them are left out: the chain begins behind them. */
export const framesOf = (runId: string, row: ProofRow): FrameChain => {
  const { frames_after: after, frames_head: head, frames_index: last, last_raw_seq } = row
  return head !== null && last === last_raw_seq
    ? { after, last, head: Buffer.from(head, "hex") }
    : framesBehind(runId, last_raw_seq)
}

const framesBehind = (runId: string, last: number): FrameChain => ({ after: last, last, head: emptyFrames(runId) })

/** The frames as a seal names them. */
export const sealedFrames = ({ after, head, last }: FrameChain): SealedFrames => ({
  after,
  last,
  head: Hex.encode(head)
})

/**
 * The MAC of a head, hexadecimal (docs/reference/seal.md#proof); empty without a key, and while the chain lags behind.
 */
export const headMac = (key: SealKey | undefined, end: ChainedEnd): string => {
  const { chain, frames, lastIndex, provenAfter, runId, sealed } = end
  if (key === undefined || chain === undefined) return ""
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
  return key.mac(`runplane-head-v1\n${parts.join("\n")}`)
}

/** Whether a process with this key wrote the head. */
export const isVouched = (key: SealKey, end: ChainedEnd, mac: string | null): boolean => {
  const [expected, found] = [Buffer.from(headMac(key, end), "hex"), Buffer.from(mac ?? "", "hex")]
  return expected.length > 0 && expected.length === found.length && timingSafeEqual(expected, found)
}

/** A stored end with its MAC, hexadecimal; null where none was. */
interface StoredEnd extends ChainedEnd {
  readonly mac: string | null
}

/** A head as this process continues it: where its MAC is not of this key, nothing before is vouched for. */
export interface Vouched<A> {
  readonly head: A
  readonly isDoubted: boolean
}

/** The head that an append continues. Only the append that creates its run (`isNew`) finds a head without a MAC. */
export const vouchedHead = <A extends StoredEnd>(key: SealKey | undefined, head: A, isNew: boolean): Vouched<A> => {
  const isCreation = isNew && head.lastIndex === 0
  // While the chain lags behind nothing is signed of it here.
  const isDoubted = key !== undefined && head.chain !== undefined && !isCreation && !isVouched(key, head, head.mac)
  return { head: isDoubted ? unproven(head) : head, isDoubted }
}

/** The same end, of which nothing is vouched for up to here. A log that was emptied lacks at least its first event. */
export const unproven = <A extends ChainedEnd>(end: A): A => ({
  ...end,
  provenAfter: Math.max(end.lastIndex, 1),
  frames: framesBehind(end.runId, end.frames.last)
})

/** What the log says of a head whose MAC is not of this process's key. */
export const doubtfulHead = ({ lastIndex, mac, runId }: StoredEnd): string =>
  `run ${runId}: the head at event ${lastIndex} ${mac === null ? "has no MAC" : "has a MAC of another key or of other content"}; ` +
  `its seal vouches only for the events behind it`
