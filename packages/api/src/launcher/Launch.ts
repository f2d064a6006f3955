import { Field, RunDescriptor, RunMode } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { boolean, jsonObject, oneOf, string, strings } from "../validation/BodyRules.ts"
import { object } from "../validation/ObjectRule.ts"
import { described, optional, type Rule, valid } from "../validation/Rule.ts"
import { HostedAgent } from "./Catalog.ts"

const absent = Schema.optionalKey

/** What the initiator agent needs to open the session (launch-details sections 3.2 and 4). */
export const LaunchInitiator = Schema.Struct({
  participantId: Field.text("Who opens the session", "incident-commander"),
  sessionStart: Schema.Struct({
    intent: Field.text("What the session is for"),
    participants: Field.texts("Participants to invite"),
    ttlMs: Field.integer("Time-to-live of the session, milliseconds"),
    modeVersion: Field.text("Version of the mode"),
    configurationVersion: Field.text("Version of the configuration"),
    policyVersion: absent(Field.text("Governance policy")),
    maxSuspendMs: absent(Field.integer("Longest suspension, milliseconds")),
    contextId: absent(Field.text("Context to open the session in")),
    extensions: absent(
      Schema.Record(Schema.String, Schema.String).annotate({ description: "Extensions of the start, texts by name" })
    )
  }).annotate({ description: "What the SessionStart message says" }),
  kickoff: absent(
    Schema.Struct({
      messageType: Field.text("Type of the message", "Proposal"),
      payloadType: absent(Field.text("Type of its payload")),
      payload: Field.object("Its payload, as the scenario defines it")
    }).annotate({ description: "The first message of the session" })
  )
}).annotate({ identifier: "LaunchInitiator", description: "What the initiator agent needs to open the session" })
export type LaunchInitiator = typeof LaunchInitiator.Type

/** A compiled launch (scenario-launch-service "CompileLaunchResult"; field map in launch-details section 3.2). */
export const CompileLaunchResult = Schema.Struct({
  sessionId: Field.text("The session, allocated here: UUID v4; also in the descriptor"),
  mode: RunMode,
  runDescriptor: RunDescriptor,
  initiator: absent(LaunchInitiator),
  scenarioMeta: Schema.Struct({
    policyHints: absent(Field.object("What the pack says about its governance policy")),
    sessionContext: absent(Schema.Json.annotate({ description: "What the session is about, in the scenario's terms" })),
    initiatorParticipantId: absent(Field.text("Who opens the session"))
  }).annotate({ description: "For the caller only: no part of the descriptor" }),
  display: Schema.Struct({
    title: Field.text("Title for readers"),
    scenarioRef: Field.text("The scenario: pack/scenario@version", "incident/region-failover@1.0.0"),
    templateId: absent(Field.text("The template that was asked for", "default")),
    expectedDecisionKinds: absent(Field.texts("Decisions that the session comes to"))
  }).annotate({ description: "What a page shows of the launch" }),
  participantBindings: Schema.Array(
    Schema.Struct({
      participantId: Field.text("The participant", "replication-analyst"),
      role: Field.text("Its role in the session"),
      agentRef: Field.text("The agent that speaks for it", "replication-agent")
    })
  ).annotate({ description: "Which agent speaks for whom" })
}).annotate({
  identifier: "CompileLaunchResult",
  description: "A run descriptor with the start data of its initiator agent"
})
export type CompileLaunchResult = typeof CompileLaunchResult.Type

export const ControlPlaneRun = Schema.Struct({
  runId: Field.text("Id of the run: UUID"),
  sessionId: Field.text("Its session"),
  status: Field.text("Its status when it was submitted", "queued"),
  traceId: Field.text("W3C trace id: 32 hex digits")
}).annotate({ identifier: "ControlPlaneRun", description: "The run that the control plane made of the descriptor" })
export type ControlPlaneRun = typeof ControlPlaneRun.Type

/** The answer of `POST /examples/run`; without agents to start only `compiled` and an empty `hostedAgents`. */
export const ExampleRun = Schema.Struct({
  compiled: CompileLaunchResult,
  hostedAgents: Schema.Array(HostedAgent).annotate({
    description: "The agents, in the order of the scenario; empty when none were to be started"
  }),
  sessionId: absent(Field.text("The session; absent when no agents were to be started")),
  controlPlaneRun: absent(ControlPlaneRun)
}).annotate({
  identifier: "ExampleRun",
  description: "A launched example. controlPlaneRun is absent when nothing was submitted, or the submission failed"
})
export type ExampleRun = typeof ExampleRun.Type

const drop = { unknownKeys: "drop" } as const

/** `actorId` and `actorType` as they come when they are strings; anything else about a requester is left out. */
const requester: Rule<{ readonly actorId?: string; readonly actorType?: "user" | "service" | "system" }> = {
  optional: false,
  jsonSchema: {
    type: "object",
    properties: {
      actorId: { type: "string", description: "Id of the requester, in the caller's own terms" },
      actorType: { type: "string", enum: ["user", "service", "system"], description: "What the requester is" }
    }
  },
  check: (value, place, report) => {
    const checked = jsonObject().check(value, place, report)
    if (checked === undefined) return undefined
    const { actorId, actorType } = checked.value
    return valid({
      ...(typeof actorId === "string" ? { actorId } : {}),
      ...(actorType === "user" || actorType === "service" || actorType === "system" ? { actorType } : {})
    })
  }
}

const compileFields = {
  scenarioRef: described(
    string({ notEmpty: "first" }),
    "The scenario: pack/scenario@version",
    "incident/region-failover@1.0.0"
  ),
  templateId: described(
    optional(string()),
    "Slug of a template: its inputs stand in for missing ones, its changes apply to the launch"
  ),
  mode: described(optional(oneOf(["live", "sandbox"])), "Mode of the run; sandbox unless said"),
  inputs: described(jsonObject(), "Inputs, checked against the JSON Schema of the scenario")
}

/** The body of `POST /launch/compile`; unknown keys are dropped. */
export const compileRequestRule = object(compileFields, drop)
export type CompileRequest = {
  readonly scenarioRef: string
  readonly templateId?: string
  readonly mode?: "live" | "sandbox"
  readonly inputs: Schema.JsonObject
}

/** The body of `POST /examples/run`; field order is the order of its messages (launch-details section 10.1). */
export const exampleRunRequestRule = object(
  {
    ...compileFields,
    bootstrapAgents: described(
      optional(boolean()),
      "Whether to start agents and to submit the run; the setting AUTO_BOOTSTRAP_EXAMPLE_AGENTS unless said"
    ),
    tags: described(optional(strings()), "Added to the tags of the run", ["nightly"]),
    requester: described(optional(requester), "On whose behalf; replaces the requester of the scenario"),
    runLabel: described(optional(string()), "Name of this run for readers, kept in the session's metadata")
  },
  drop
)
export type ExampleRunRequest = CompileRequest & {
  readonly bootstrapAgents?: boolean
  readonly tags?: ReadonlyArray<string>
  readonly requester?: { readonly actorId?: string; readonly actorType?: "user" | "service" | "system" }
  readonly runLabel?: string
}
