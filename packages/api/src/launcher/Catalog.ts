import { Field } from "@runplane/domain"
import * as Schema from "effect/Schema"

const optional = Schema.optionalKey

export const HealthAnswer = Schema.Struct({
  ok: Schema.Literal(true).annotate({ description: "Always true" }),
  service: Field.text("Name of the service", "scenario-launch-service")
}).annotate({ identifier: "HealthAnswer", description: "The process answers" })

export const Pack = Schema.Struct({
  slug: Field.text("First part of a scenario reference", "incident"),
  name: Field.text("Name for readers"),
  description: Field.text("What its scenarios are about"),
  tags: Field.texts("Tags of the pack")
}).annotate({ identifier: "Pack", description: "A set of scenarios" })
export type Pack = typeof Pack.Type

/** `packSlug` is there in `GET /scenarios` only. */
export const ScenarioSummary = Schema.Struct({
  packSlug: optional(Field.text("Its pack; only where scenarios of several packs are listed", "incident")),
  scenario: Field.text("Slug of the scenario: middle part of a scenario reference", "region-failover"),
  name: Field.text("Name for readers"),
  summary: optional(Field.text("What it is about")),
  versions: Field.texts("Its versions, the oldest first", ["1.0.0"]),
  templates: Field.texts("Slugs of its templates"),
  tags: optional(Field.texts("Tags of the scenario")),
  runtimeKind: optional(Field.text("Kind of runtime it runs on", "rust")),
  agentRefs: Field.texts("The agents it takes"),
  policyHints: optional(Field.object("What the pack says about its governance policy, for display"))
}).annotate({ identifier: "ScenarioSummary", description: "A scenario with its versions and templates" })
export type ScenarioSummary = typeof ScenarioSummary.Type

export const BootstrapMode = Schema.Literals(["attached", "mock", "deferred"]).annotate({
  description: "attached agents are started as processes; mock and deferred ones are not started here"
})

const profileFields = {
  agentRef: Field.text("Id of the agent in the catalog", "replication-agent"),
  name: Field.text("Name for readers"),
  role: Field.text("What it does in a session"),
  framework: Field.text("What it is built on", "custom"),
  description: Field.text("What it knows about"),
  transportIdentity: Field.text("Its address", "agent://replication-agent"),
  entrypoint: Field.text("The program that is started"),
  bootstrapStrategy: Field.text("How it is started"),
  bootstrapMode: BootstrapMode,
  tags: Field.texts("Tags of the agent")
}

export const AgentProfile = Schema.Struct(profileFields).annotate({
  identifier: "AgentProfile",
  description: "An example agent"
})
export type AgentProfile = typeof AgentProfile.Type

/** A profile with the scenarios that name the agent: `GET /agents` and `GET /agents/:agentRef` only. */
export const CatalogAgent = Schema.Struct({
  ...profileFields,
  scenarios: Field.texts("References of the scenarios that name the agent", ["incident/region-failover@1.0.0"])
}).annotate({
  identifier: "CatalogAgent",
  description: "An example agent with the references of the scenarios it takes part in"
})
export type CatalogAgent = typeof CatalogAgent.Type

/**
 * A started (or mocked, or deferred) agent in the answer of `POST /examples/run`
 * (docs/internals/launch.md#hosted-agents).
 */
export const HostedAgent = Schema.Struct({
  ...profileFields,
  participantId: Field.text("Participant of the session that the agent speaks for", "replication-analyst"),
  status: Schema.Literal("bootstrapped").annotate({ description: "Always bootstrapped: failures are errors" }),
  participantMetadata: Schema.Struct({
    processAttached: Field.flag("Whether a process was started"),
    pid: optional(Field.integer("Its process id on the service's machine", 4711)),
    launchMode: optional(Field.text("How it was started")),
    adapterFramework: optional(Field.text("The host that started it"))
  }).annotate({ description: "How the agent was started" })
}).annotate({ identifier: "HostedAgent", description: "An agent as it was started for a run" })
export type HostedAgent = typeof HostedAgent.Type

/** Everything a form needs to start a scenario (docs/internals/launch.md#launch-schema). */
export const LaunchSchema = Schema.Struct({
  scenarioRef: Field.text("The scenario: pack/scenario@version", "incident/region-failover@1.0.0"),
  templateId: optional(Field.text("The requested template", "default")),
  formSchema: Field.object("JSON Schema of the inputs"),
  defaults: Field.object("Inputs to begin with: the defaults of the schema, then those of the template"),
  participants: Schema.Array(
    Schema.Struct({
      id: Field.text("Id of the participant", "replication-analyst"),
      role: Field.text("Its role in the session"),
      agentRef: Field.text("The agent that speaks for it", "replication-agent")
    })
  ).annotate({ description: "Participants in the order of the scenario" }),
  agents: Schema.Array(AgentProfile).annotate({ description: "The agents that take part" }),
  runtime: Schema.Struct({
    kind: Field.text("Kind of runtime", "rust"),
    version: optional(Field.text("Its version"))
  }).annotate({ description: "The runtime it runs on" }),
  launchSummary: Schema.Struct({
    modeName: Field.text("Session mode", "macp.mode.decision.v1"),
    modeVersion: Field.text("Version of the mode"),
    configurationVersion: Field.text("Version of the configuration"),
    policyVersion: optional(Field.text("Governance policy")),
    ttlMs: Field.integer("Time-to-live of the session, milliseconds"),
    initiatorParticipantId: optional(Field.text("Who opens the session")),
    policyHints: optional(Field.object("What the pack says about its governance policy, for display"))
  }).annotate({ description: "The session it opens" }),
  expectedDecisionKinds: optional(Field.texts("Decisions that its sessions come to"))
}).annotate({ identifier: "LaunchSchema", description: "The inputs of a scenario version and what it will launch" })
export type LaunchSchema = typeof LaunchSchema.Type
