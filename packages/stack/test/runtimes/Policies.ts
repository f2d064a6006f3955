import { ControlPlaneClient } from "@runplane/api"
import { CONTROL_PLANE_IDENTITY } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import { LEAD } from "./Stage.ts"

/** Lets the control plane cancel, suspend and resume: the delegation of docs/reference/runs.md#cancel. */
export const DELEGATED = "policy.suite.delegated"

/** A majority of at least two voters, one critical objection vetoes. */
export const MAJORITY = "policy.suite.majority"

/** An offer without an answer counts as accepted. */
export const SILENCE_ACCEPTS = "policy.suite.silence-accepts"

/** Milliseconds of silence. */
const SILENCE_MS = 500

const policies = [
  {
    policyId: DELEGATED,
    mode: "macp.mode.decision.v1",
    description: "the initiator and the control plane may end the session",
    schemaVersion: 3,
    rules: { commitment: { authority: "designated_role", designated_roles: [LEAD, CONTROL_PLANE_IDENTITY] } }
  },
  {
    policyId: MAJORITY,
    mode: "macp.mode.decision.v1",
    description: "a majority of two voters or more",
    schemaVersion: 3,
    rules: {
      voting: { algorithm: "majority", threshold: 0.5, quorum: { type: "count", value: 2 } },
      objection_handling: { critical_severity_vetoes: true, veto_threshold: 1 },
      commitment: { authority: "initiator_only", require_vote_quorum: true }
    }
  },
  {
    policyId: SILENCE_ACCEPTS,
    mode: "macp.mode.handoff.v1",
    description: "silence is acceptance",
    schemaVersion: 1,
    rules: { acceptance: { implicit_accept_timeout_ms: SILENCE_MS } }
  }
] as const

/** Registers the policies of the suite through the control plane. */
export const registerPolicies = Effect.gen(function* () {
  const { api } = yield* ControlPlaneClient
  yield* Effect.forEach(policies, (payload) => api.policies.register({ payload }), { discard: true })
})
