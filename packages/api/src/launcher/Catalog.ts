import * as Schema from "effect/Schema"

const optional = Schema.optionalKey
const texts = Schema.Array(Schema.String)

export const HealthAnswer = Schema.Struct({ ok: Schema.Literal(true), service: Schema.String }).annotate({
  identifier: "HealthAnswer"
})

export const Pack = Schema.Struct({
  slug: Schema.String,
  name: Schema.String,
  description: Schema.String,
  tags: texts
}).annotate({ identifier: "Pack", description: "A set of scenarios" })
export type Pack = typeof Pack.Type

/** `packSlug` is there in `GET /scenarios` only. */
export const ScenarioSummary = Schema.Struct({
  packSlug: optional(Schema.String),
  scenario: Schema.String,
  name: Schema.String,
  summary: optional(Schema.String),
  versions: texts,
  templates: texts,
  tags: optional(texts),
  runtimeKind: optional(Schema.String),
  agentRefs: texts,
  policyHints: optional(Schema.JsonObject)
}).annotate({ identifier: "ScenarioSummary", description: "A scenario with its versions and templates" })
export type ScenarioSummary = typeof ScenarioSummary.Type

export const BootstrapMode = Schema.Literals(["attached", "mock", "deferred"])

const profileFields = {
  agentRef: Schema.String,
  name: Schema.String,
  role: Schema.String,
  framework: Schema.String,
  description: Schema.String,
  transportIdentity: Schema.String.annotate({ examples: ["agent://replication-agent"] }),
  entrypoint: Schema.String,
  bootstrapStrategy: Schema.String,
  bootstrapMode: BootstrapMode,
  tags: texts
}

export const AgentProfile = Schema.Struct(profileFields).annotate({
  identifier: "AgentProfile",
  description: "An example agent"
})
export type AgentProfile = typeof AgentProfile.Type

/** A profile with the scenarios that name the agent: `GET /agents` and `GET /agents/:agentRef` only. */
export const CatalogAgent = Schema.Struct({ ...profileFields, scenarios: texts }).annotate({
  identifier: "CatalogAgent",
  description: "An example agent with the references of the scenarios it takes part in"
})
export type CatalogAgent = typeof CatalogAgent.Type

/** A started (or mocked, or deferred) agent in the answer of `POST /examples/run` (launch-details section 5.7). */
export const HostedAgent = Schema.Struct({
  ...profileFields,
  participantId: Schema.String,
  status: Schema.Literal("bootstrapped"),
  participantMetadata: Schema.Struct({
    processAttached: Schema.Boolean,
    pid: optional(Schema.Int),
    launchMode: optional(Schema.String),
    adapterFramework: optional(Schema.String)
  })
}).annotate({ identifier: "HostedAgent", description: "An agent as it was started for a run" })
export type HostedAgent = typeof HostedAgent.Type

/** Everything a form needs to start a scenario (launch-details section 3.3). */
export const LaunchSchema = Schema.Struct({
  scenarioRef: Schema.String,
  templateId: optional(Schema.String),
  formSchema: Schema.JsonObject,
  defaults: Schema.JsonObject,
  participants: Schema.Array(Schema.Struct({ id: Schema.String, role: Schema.String, agentRef: Schema.String })),
  agents: Schema.Array(AgentProfile),
  runtime: Schema.Struct({ kind: Schema.String, version: optional(Schema.String) }),
  launchSummary: Schema.Struct({
    modeName: Schema.String,
    modeVersion: Schema.String,
    configurationVersion: Schema.String,
    policyVersion: optional(Schema.String),
    ttlMs: Schema.Int,
    initiatorParticipantId: optional(Schema.String),
    policyHints: optional(Schema.JsonObject)
  }),
  expectedDecisionKinds: optional(texts)
}).annotate({ identifier: "LaunchSchema", description: "The inputs of a scenario version and what it will launch" })
export type LaunchSchema = typeof LaunchSchema.Type
