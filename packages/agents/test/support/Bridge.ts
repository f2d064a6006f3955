import type { BootstrapFile } from "../../src/client/Bootstrap.ts"

/** The participants of the scenario `incident/region-failover`, with the agents that play them. */
export const BRIDGE = [
  ["replication-analyst", "replication-agent"],
  ["impact-analyst", "impact-agent"],
  ["security-analyst", "security-agent"],
  ["incident-commander", "commander-agent"]
] as const

const COMMANDER = "incident-commander"
const participants = BRIDGE.map(([participant]) => participant)

export const balanced = {
  policyId: "policy.incident.balanced",
  mode: "macp.mode.decision.v1",
  description: "majority of cast votes, three voters, one critical objection vetoes",
  schemaVersion: 3,
  rules: JSON.stringify({
    voting: { algorithm: "majority", threshold: 0.5, quorum: { type: "count", value: 3 } },
    objection_handling: { critical_severity_vetoes: true, veto_threshold: 1 },
    evaluation: { minimum_confidence: 0.55, required_before_voting: true },
    commitment: { authority: "initiator_only", require_vote_quorum: true, designated_roles: [] }
  })
}

export const balancedHints = {
  type: "majority",
  threshold: 0.5,
  vetoEnabled: true,
  vetoThreshold: 1,
  minimumConfidence: 0.55
}

export const fastTrack = {
  policyId: "policy.incident.fast-track",
  mode: "macp.mode.decision.v1",
  description: "two thirds of cast votes, half of the bridge must vote, no veto",
  schemaVersion: 3,
  rules: JSON.stringify({
    voting: { algorithm: "supermajority", threshold: 0.67, quorum: { type: "percentage", value: 50 } },
    objection_handling: { critical_severity_vetoes: false },
    evaluation: { minimum_confidence: 0.4, required_before_voting: false },
    commitment: { authority: "initiator_only", require_vote_quorum: true, designated_roles: [] }
  })
}

export const fastTrackHints = { type: "supermajority", threshold: 0.67, vetoEnabled: false, vetoThreshold: 1 }

export interface Incident {
  readonly severity: string
  readonly errorRatePercent: number
  readonly replicationLagSeconds: number
  readonly customerFacing: boolean
  readonly standby: { readonly region: string; readonly warm: boolean }
}

export const degraded: Incident = {
  severity: "sev2",
  errorRatePercent: 12.5,
  replicationLagSeconds: 4,
  customerFacing: true,
  standby: { region: "north-2", warm: true }
}

export const coldStandby: Incident = {
  severity: "sev2",
  errorRatePercent: 38,
  replicationLagSeconds: 95,
  customerFacing: true,
  standby: { region: "north-3", warm: false }
}

export const fastTrackIncident: Incident = {
  ...degraded,
  severity: "sev1",
  errorRatePercent: 71,
  replicationLagSeconds: 2
}

export interface Launch {
  readonly runtimeUrl: string
  readonly sessionId: string
  readonly policyVersion: string
  readonly hints: typeof balancedHints | typeof fastTrackHints
  readonly incident: Incident
}

/** The bootstrap file the launch service writes for one participant. */
export const bootstrapFor = (participantId: string, launch: Launch): BootstrapFile => ({
  participant_id: participantId,
  session_id: launch.sessionId,
  mode: "macp.mode.decision.v1",
  runtime_url: launch.runtimeUrl,
  auth_token: participantId,
  secure: false,
  participants,
  mode_version: "1.0.0",
  configuration_version: "config.default",
  policy_version: launch.policyVersion,
  ...(participantId === COMMANDER ? { initiator: initiator(launch) } : {}),
  metadata: {
    role: "tester",
    framework: "custom",
    agent_ref: BRIDGE.find(([id]) => id === participantId)?.[1] ?? "",
    policy_hints: launch.hints,
    session_context: { incidentId: "INC-4207", service: "checkout-api", ...launch.incident }
  }
})

const initiator = ({ policyVersion }: Launch) => ({
  session_start: {
    intent: "decide whether checkout-api fails over",
    participants,
    ttl_ms: 120_000,
    max_suspend_ms: 60_000,
    mode_version: "1.0.0",
    configuration_version: "config.default",
    policy_version: policyVersion,
    extensions: { "ops.bridge": "YnJpZGdlLTc=" }
  },
  kickoff: {
    message_type: "Proposal",
    payload_type: "macp.modes.decision.v1.ProposalPayload",
    payload: { proposal_id: "INC-4207-failover", option: "fail_over_now", rationale: "Choose go, hold or no_go." }
  }
})
