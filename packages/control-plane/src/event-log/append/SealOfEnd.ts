import { isTerminal, makeSeal, type Seal } from "@runplane/domain"
import type { SealKey } from "../../platform/ledger/SealKeys.ts"
import { type ChainedEnd, sealedFrames } from "../seal/HeadProof.ts"
import type { RunInProgress } from "./EventFold.ts"

/** Whether an append has added events or frames to the run. */
export const hasGrown = ({ head, lastIndex, lastRawSeq }: RunInProgress): boolean =>
  lastIndex !== head.lastIndex || lastRawSeq !== head.lastRawSeq

/** The end of the run's log as it is going to be committed. */
export const endOf = ({ chain, framesHead, lastIndex, lastRawSeq, vouched: { head } }: RunInProgress): ChainedEnd => ({
  runId: head.runId,
  lastIndex,
  chain,
  frames: { after: head.frames.after, last: lastRawSeq, head: framesHead },
  provenAfter: head.provenAfter,
  sealed: head.sealed
})

/**
 * The seal of a run that has ended and has events that are not sealed (docs/reference/seal.md#seals). It is late when
 * its last event was stored before.
 */
export const sealOf = (run: RunInProgress, sealedAt: string, key: SealKey | undefined): Seal | undefined => {
  const { head, lastIndex: events } = run
  const { chain, frames, provenAfter, runId, sealed } = endOf(run)
  if (!isTerminal(run.status) || events === sealed?.events) return undefined
  const late = events === head.lastIndex
  const draft = { runId, events, head: chain, sealedAt, late, provenAfter, frames: sealedFrames(frames) }
  return makeSeal({ ...draft, ...(sealed !== null && { previous: sealed }) }, key)
}
