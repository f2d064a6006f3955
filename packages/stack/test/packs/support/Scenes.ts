import { fromBinary } from "@bufbuild/protobuf"
import { CommitmentPayloadSchema, SessionState } from "@runplane/runtime"
import type { PersonVote, Played, Scene } from "./Rehearsal.ts"

/** What became of the session: the committed action, or how it ended without one. */
export type Ending = string

/** A fixture of the packs, with the template it is for, its ending, and how the person votes where one takes part. */
export type SceneRow = readonly [fixture: string, template: string | undefined, ending: Ending, vote?: PersonVote]

/** Every fixture of the packs, and what the agents make of it under the pack's policy. */
export const SCENES: Readonly<Record<string, ReadonlyArray<SceneRow>>> = {
  "incident/night-failover@1.0.0": [
    ["tied-analysts", undefined, "decision.selected, positive", "APPROVE"],
    ["tied-analysts", undefined, "decision.rejected, negative", "REJECT"],
    ["healthy-standby", undefined, "decision.selected, positive", "REJECT"],
    // The policy lets a veto deny every commitment, whatever the person votes.
    ["cold-standby", undefined, "cancelled", "APPROVE"]
  ],
  "incident/region-failover@1.0.0": [
    ["degraded-region", undefined, "decision.selected, positive"],
    ["degraded-region", "sev1-fast-track", "decision.selected, positive"],
    ["unready-standby", undefined, "decision.rejected, negative"],
    // The balanced policy lets a veto deny every commitment, a negative one included.
    ["cold-standby", undefined, "cancelled"],
    ["cold-standby", "sev1-fast-track", "decision.rejected, negative"]
  ],
  "incident/region-failover@1.1.0": [
    ["degraded-region", undefined, "decision.selected, positive"],
    ["unready-standby", undefined, "decision.rejected, negative"],
    ["cold-standby", undefined, "decision.rejected, negative"],
    ["self-healed", undefined, "cancelled"]
  ],
  "release/production-rollout@1.0.0": [
    ["routine-release", undefined, "quorum.approved, positive"],
    ["routine-release", "hotfix", "quorum.approved, positive"],
    ["untested-rollback", undefined, "quorum.rejected, negative"],
    ["leaked-secret", undefined, "cancelled"]
  ],
  "release/production-rollout@2.0.0": [
    ["healthy-canary", undefined, "quorum.approved, positive"],
    ["healthy-canary", "freeze-week", "quorum.rejected, negative"],
    ["burning-canary", undefined, "quorum.rejected, negative"],
    ["leaked-secret", undefined, "cancelled"]
  ],
  "procurement/supplier-terms@1.0.0": [
    ["common-ground", undefined, "proposal.accepted, positive"],
    ["common-ground", "sealed-round", "proposal.accepted, positive"],
    ["too-far-apart", undefined, "proposal.rejected, negative"],
    ["too-far-apart", "sealed-round", "proposal.rejected, negative"],
    ["liability-too-low", undefined, "proposal.rejected, negative"],
    ["budget-not-released", undefined, "cancelled"]
  ],
  "privacy/erasure-request@1.0.0": [
    ["plain-erasure", undefined, "task.completed, positive"],
    ["plain-erasure", "named-engineer", "cancelled"],
    ["second-engineer", undefined, "task.completed, positive"],
    ["legal-hold", undefined, "task.failed, negative"],
    ["no-erasure-log", undefined, "cancelled"],
    ["no-engineer-has-time", undefined, "cancelled"]
  ],
  "support/escalation@1.0.0": [
    ["double-charge", undefined, "handoff.accepted, positive"],
    ["rerouted-outage", undefined, "handoff.accepted, positive"],
    ["no-colleague-takes-it", undefined, "handoff.declined, negative"],
    ["solved-meanwhile", undefined, "cancelled"],
    ["silent-night", "night-desk", "handoff.accepted, positive"]
  ],
  "support/refund-claim@1.0.0": [
    ["genuine", undefined, "decision.selected, positive"],
    ["without-receipt", undefined, "decision.rejected, negative"],
    ["withdrawn", undefined, "cancelled"]
  ]
}

export const sceneOf = (ref: string, [fixture, template, , vote]: SceneRow): Scene => ({
  ref,
  fixture,
  ...(template === undefined ? {} : { template }),
  ...(vote === undefined ? {} : { vote })
})

export const endingOf = ({ history, state }: Played): Ending => {
  const last = history.at(-1)
  if (state === SessionState.CANCELLED) return "cancelled"
  if (state !== SessionState.RESOLVED || last?.messageType !== "Commitment") return `state ${state}`
  const { action, outcomePositive } = fromBinary(CommitmentPayloadSchema, last.payload)
  return `${action}, ${outcomePositive ? "positive" : "negative"}`
}
