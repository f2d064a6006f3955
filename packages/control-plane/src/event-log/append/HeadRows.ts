import { isTerminal, makeSeal, type Seal } from "@runplane/domain"
import * as Hex from "effect/encoding/Hex"
import { pendingSeal } from "../../platform/ledger/PendingEntries.ts"
import type { SealKey } from "../../platform/ledger/SealKeys.ts"
import { type ChainedEnd, headMac, sealedFrames } from "../seal/HeadProof.ts"
import type { RunInProgress } from "./EventFold.ts"
import type { HeadRow, RunRows } from "./InsertEvents.ts"

/** Whether an append has added events or frames to the run. */
export const hasGrown = ({ head, lastIndex, lastRawSeq }: RunInProgress): boolean =>
  lastIndex !== head.lastIndex || lastRawSeq !== head.lastRawSeq

/** The end of the run's log after this transaction. */
const endOf = ({ chain, framesHead, lastIndex, lastRawSeq, vouched: { head } }: RunInProgress): ChainedEnd => ({
  runId: head.runId,
  lastIndex,
  version: head.version,
  chain,
  frames: { after: head.frames.after, last: lastRawSeq, head: framesHead },
  provenAfter: head.provenAfter,
  sealed: head.sealed
})

/**
 * The seal of a run that has ended and has unsealed events (docs/reference/seal.md#seals). It is late when an earlier
 * transaction has stored its last event.
 */
const sealOf = (run: RunInProgress, sealedAt: string, key: SealKey | undefined): Seal | undefined => {
  const { head, lastIndex: events } = run
  const { chain, frames, provenAfter, runId, sealed, version } = endOf(run)
  if (!isTerminal(run.status) || events === sealed?.events) return undefined
  const late = events === head.lastIndex
  const draft = {
    ...{ runId, events, head: chain, sealedAt, late, provenAfter, frames: sealedFrames(frames) },
    chain: version
  }
  return makeSeal({ ...draft, ...(sealed !== null && { previous: sealed }) }, key)
}

/** Adds the run's head and metrics to the rows, with the seal over it, if one is due at that time. */
export const addHead = (rows: RunRows, run: RunInProgress, sealedAt: string, key: SealKey | undefined): void => {
  const seal = sealOf(run, sealedAt, key)
  rows.heads.push(headRow(run, seal, key))
  if (seal === undefined) return
  rows.seals.push({ run_id: seal.runId, events: seal.events, seal: JSON.stringify(seal) })
  rows.pending.push(pendingSeal(key, seal))
}

const headRow = (run: RunInProgress, seal: Seal | undefined, key: SealKey | undefined): HeadRow => {
  const { head, projected } = run
  const { metrics } = projected
  // An append that adds nothing keeps the MAC, also one of another key.
  const isKept = seal === undefined && !hasGrown(run)
  const end = isKept ? head : endOf(run)
  const mac = isKept ? head.mac : headMac(key, seal === undefined ? end : { ...end, sealed: seal })
  return {
    run_id: head.run.id,
    last_seq: run.lastSeq,
    last_index: run.lastIndex,
    last_raw_seq: run.lastRawSeq,
    last_ts: run.lastTs,
    cursor: run.cursor,
    metrics: JSON.stringify(metrics),
    prompt_tokens: metrics.promptTokens,
    completion_tokens: metrics.completionTokens,
    total_tokens: metrics.totalTokens,
    cost_usd: metrics.estimatedCostUsd,
    guessed_usd: metrics.guessedCostUsd ?? 0,
    signal_count: metrics.signalCount,
    decision_count: metrics.decisionCount,
    intent: projected.state.run.intent ?? null,
    chain: Hex.encode(run.chain),
    sealed: seal !== undefined,
    proven_after: end.provenAfter,
    frames_after: end.frames.after,
    frames: Hex.encode(end.frames.head),
    mac: mac === "" ? null : mac
  }
}

/** Adds the run's projection to the rows. */
export const addCheckpoint = ({ projections }: RunRows, run: RunInProgress, now: number): void => {
  const state = JSON.stringify(run.projected.state)
  projections.push({ run_id: run.head.run.id, last_seq: run.lastSeq, state })
  run.checkpoint = { index: run.lastIndex, at: now }
  run.stateBytes = state.length
}
