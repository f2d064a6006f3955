import { RunDescriptor, RunMode } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { boolean, jsonObject, oneOf, string, strings } from "../validation/BodyRules.ts"
import { object } from "../validation/ObjectRule.ts"
import { described, optional, type Rule, valid } from "../validation/Rule.ts"
import { HostedAgent } from "./Catalog.ts"

const absent = Schema.optionalKey
const texts = Schema.Array(Schema.String)

/** What the initiator agent needs to open the session (launch-details sections 3.2 and 4). */
export const LaunchInitiator = Schema.Struct({
  participantId: Schema.String,
  sessionStart: Schema.Struct({
    intent: Schema.String,
    participants: texts,
    ttlMs: Schema.Int,
    modeVersion: Schema.String,
    configurationVersion: Schema.String,
    policyVersion: absent(Schema.String),
    maxSuspendMs: absent(Schema.Int),
    contextId: absent(Schema.String),
    extensions: absent(Schema.Record(Schema.String, Schema.String))
  }),
  kickoff: absent(
    Schema.Struct({
      messageType: Schema.String,
      payloadType: absent(Schema.String),
      payload: Schema.JsonObject
    })
  )
}).annotate({ identifier: "LaunchInitiator" })
export type LaunchInitiator = typeof LaunchInitiator.Type

/** A compiled launch (scenario-launch-service "CompileLaunchResult"; field map in launch-details section 3.2). */
export const CompileLaunchResult = Schema.Struct({
  sessionId: Schema.String,
  mode: RunMode,
  runDescriptor: RunDescriptor,
  initiator: absent(LaunchInitiator),
  scenarioMeta: Schema.Struct({
    policyHints: absent(Schema.JsonObject),
    sessionContext: absent(Schema.Json),
    initiatorParticipantId: absent(Schema.String)
  }),
  display: Schema.Struct({
    title: Schema.String,
    scenarioRef: Schema.String,
    templateId: absent(Schema.String),
    expectedDecisionKinds: absent(texts)
  }),
  participantBindings: Schema.Array(
    Schema.Struct({ participantId: Schema.String, role: Schema.String, agentRef: Schema.String })
  )
}).annotate({
  identifier: "CompileLaunchResult",
  description: "A run descriptor with the start data of its initiator agent"
})
export type CompileLaunchResult = typeof CompileLaunchResult.Type

export const ControlPlaneRun = Schema.Struct({
  runId: Schema.String,
  sessionId: Schema.String,
  status: Schema.String,
  traceId: Schema.String
}).annotate({ identifier: "ControlPlaneRun", description: "The run that the control plane made of the descriptor" })
export type ControlPlaneRun = typeof ControlPlaneRun.Type

/** The answer of `POST /examples/run`; without agents to start only `compiled` and an empty `hostedAgents`. */
export const ExampleRun = Schema.Struct({
  compiled: CompileLaunchResult,
  hostedAgents: Schema.Array(HostedAgent),
  sessionId: absent(Schema.String),
  controlPlaneRun: absent(ControlPlaneRun)
}).annotate({ identifier: "ExampleRun", description: "A launched example" })
export type ExampleRun = typeof ExampleRun.Type

const drop = { unknownKeys: "drop" } as const

/** `actorId` and `actorType` as they come when they are strings; anything else about a requester is left out. */
const requester: Rule<{ readonly actorId?: string; readonly actorType?: "user" | "service" | "system" }> = {
  optional: false,
  jsonSchema: {
    type: "object",
    properties: { actorId: { type: "string" }, actorType: { type: "string", enum: ["user", "service", "system"] } }
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
  scenarioRef: described(string({ notEmpty: "first" }), "<pack>/<scenario>@<version>", "incident/triage@1.0.0"),
  templateId: optional(string()),
  mode: described(optional(oneOf(["live", "sandbox"])), "Default: sandbox"),
  inputs: described(jsonObject(), "Checked against the JSON Schema of the scenario")
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
    bootstrapAgents: described(optional(boolean()), "Default: the setting AUTO_BOOTSTRAP_EXAMPLE_AGENTS"),
    tags: optional(strings()),
    requester: optional(requester),
    runLabel: optional(string())
  },
  drop
)
export type ExampleRunRequest = CompileRequest & {
  readonly bootstrapAgents?: boolean
  readonly tags?: ReadonlyArray<string>
  readonly requester?: { readonly actorId?: string; readonly actorType?: "user" | "service" | "system" }
  readonly runLabel?: string
}
