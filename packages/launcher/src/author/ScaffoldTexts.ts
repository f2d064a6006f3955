import type { AgentProfile } from "../catalog/AgentCatalog.ts"
import type { ScenarioRef } from "../compile/ScenarioRef.ts"

/** What a new scenario's fixture holds: other values than the defaults, so that both are tried. */
export const sampleInputs = { topic: "Move the weekly release to Tuesday", urgency: "high", budget: 250 }

export const packYaml = (pack: string) => `apiVersion: scenarios.macp.dev/v1
kind: ScenarioPack
metadata:
  slug: ${pack}
  name: ${titleOf(pack)}
  description: Scenarios of ${titleOf(pack)}.
  tags: [${pack}]
`

/** A Decision mode scenario with every part that most scenarios have, and a comment where an author decides. */
export const scenarioYaml = (at: ScenarioRef, agents: ReadonlyArray<AgentProfile>) => {
  const participants = participantsOf(agents)
  const initiator = participants[0]?.id ?? ""
  const others = participants.slice(1).map(({ id }) => id)
  return `apiVersion: scenarios.macp.dev/v1
kind: ScenarioVersion
metadata:
  pack: ${at.pack}
  scenario: ${at.scenario}
  version: ${at.version}
  name: ${titleOf(at.scenario)}
  summary: One sentence about what is decided here, and by whom.
  tags: [${at.scenario}]
spec:
  inputs:
    schema: # what the user of the scenario fills in; every default is a top-level one
      type: object
      additionalProperties: false
      properties:
        topic: { type: string, minLength: 1, default: Adopt the proposal }
        urgency: { type: string, enum: [low, normal, high], default: normal }
        budget: { type: number, minimum: 0, default: 100 }
      required: [topic, urgency, budget]

  launch:
    modeName: macp.mode.decision.v1
    modeVersion: 1.0.0
    configurationVersion: config.default
    policyVersion: policy.default # or the policy_id of a file in _policies
    ttlMs: 120000 # the session expires after this many milliseconds
    initiatorParticipantId: ${initiator}

    participants: # agentRef is the name of a file in _agents/profiles
${participants.map(({ agentRef, id, role }) => `      - { id: ${id}, role: ${role}, agentRef: ${agentRef} }`).join("\n")}

    commitments:
      - id: decision
        title: Decision made
        description: The initiator publishes what was decided.

    contextTemplate: # what every agent knows
      topic: "{{ inputs.topic }}"
      urgency: "{{ inputs.urgency }}"
      budget: "{{ inputs.budget }}"

    metadataTemplate: # what the run shows about itself
      intent: "decide: {{ inputs.topic }}"

    kickoffTemplate:
      - from: ${initiator}
        to: [${others.join(", ")}]
        kind: proposal
        messageType: Proposal
        payloadEnvelope:
          encoding: proto
          proto:
            typeName: macp.modes.decision.v1.ProposalPayload
            value:
              proposal_id: ${at.scenario}-1
              option: adopt
              rationale: "{{ inputs.topic }} ({{ inputs.urgency }} urgency, budget {{ inputs.budget }})"

  execution:
    tags: [${at.pack}]

  outputs:
    expectedDecisionKinds: [adopt, reject]
`
}

export const templateYaml = (at: ScenarioRef) => `apiVersion: scenarios.macp.dev/v1
kind: ScenarioTemplate
metadata:
  scenarioVersion: ${at.pack}/${at.scenario}@${at.version}
  slug: default
  name: The ordinary case
spec:
  defaults: # replace the input schema's defaults
    urgency: normal
  # overrides: { launch: { ttlMs: 60000 } }
`

/** Participant ids are made from the agents' names; an agent that takes part twice gets numbered ids. */
const participantsOf = (agents: ReadonlyArray<AgentProfile>) =>
  agents.map((agent, index) => {
    const base = agent.agentRef.replace(/-agent$/, "")
    const earlier = agents.slice(0, index).filter(({ agentRef }) => agentRef === agent.agentRef).length
    return { id: earlier === 0 ? base : `${base}-${earlier + 1}`, role: agent.role, agentRef: agent.agentRef }
  })

const titleOf = (slug: string) =>
  slug
    .split("-")
    .map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`)
    .join(" ")
