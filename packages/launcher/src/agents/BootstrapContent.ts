import { Field } from "@runplane/domain"
import * as Schema from "effect/Schema"

const optional = Schema.optionalKey
const { integer, object, text, texts } = Field
const boolean = (description: string) => Schema.Boolean.annotate({ description })

const sessionStart = Schema.Struct({
  intent: text("Purpose of the session"),
  participants: texts("All participants"),
  ttl_ms: integer("Milliseconds until the session expires"),
  max_suspend_ms: optional(integer("Longest total suspension in milliseconds")),
  mode_version: text("Version of the mode"),
  configuration_version: text("Version of the configuration"),
  policy_version: optional(text("Policy of the session")),
  context_id: optional(text("Context of the session")),
  extensions: optional(
    Schema.Record(Schema.String, Schema.String).annotate({ description: "Extensions; each value is base64" })
  )
}).annotate({ description: "The fields of SessionStartPayload" })

const kickoff = Schema.Struct({
  message_type: text("Type of the first message, such as Proposal"),
  payload_type: optional(text("Full name of the protobuf message of the payload")),
  payload: object("The fields of the payload")
}).annotate({ description: "The first message after SessionStart" })

const cancelCallback = Schema.Struct({
  host: text("Address to listen on"),
  port: integer("Port"),
  path: text("Path of the POST"),
  bearer: optional(text("Bearer that a right request has"))
}).annotate({ description: "Where the agent listens for a request to cancel" })

const personWait = Schema.Struct({
  participant_id: text("The participant, a person or an agent that speaks A2A"),
  evaluates: boolean("Whether it may evaluate or object, which no vote may precede"),
  deadline_ms: optional(integer("Milliseconds that it has from the question on; absent: until the session ends"))
}).annotate({
  description: "A participant that the launch service acts for: agents wait for it instead of deciding without it"
})

/**
 * What a launched agent finds in its bootstrap file. `npm run generate` makes docs/reference/bootstrap.schema.json of
 * it.
 */
export const BootstrapContent = Schema.Struct({
  participant_id: text("Who the agent is in the session"),
  session_id: text("The session that it opens or joins"),
  mode: text("Mode of the session, such as macp.mode.decision.v1"),
  runtime_url: text("gRPC address of the runtime, host:port"),
  auth_token: text("Bearer of each call; replaced in the file before it ends"),
  secure: boolean("Whether the address has TLS"),
  allow_insecure: boolean("Whether a client may send the bearer without TLS"),
  participants: texts("All participants of the session"),
  mode_version: text("Version of the mode"),
  configuration_version: text("Version of the configuration"),
  policy_version: optional(text("Policy of the session")),
  initiator: optional(
    Schema.Struct({ session_start: sessionStart, kickoff: optional(kickoff) }).annotate({
      description: "Only for the agent that opens the session"
    })
  ),
  wait_for: optional(
    Schema.Array(personWait).annotate({
      description: "The participants that are people, or agents that speak A2A; absent without any"
    })
  ),
  cancel_callback: optional(cancelCallback),
  otlp_headers: optional(text("Entry of OTEL_EXPORTER_OTLP_HEADERS that lets the agent's spans join the run")),
  metadata: Schema.Struct({
    run_id: text("The run"),
    scenario_ref: text("The scenario"),
    role: text("Role of the participant"),
    framework: text("Framework of the agent"),
    agent_ref: text("Name of its profile and manifest"),
    seed: optional(
      Schema.Union([Schema.String, Schema.Finite]).annotate({ description: "Seed of the case of a gate" })
    ),
    model: optional(text("Model of the case of a gate")),
    policy_hints: optional(object("Rules of the policy, for agents that decide by them")),
    session_context: optional(Schema.Json.annotate({ description: "What the scenario gives to every agent" }))
  }).annotate({ description: "About the launch" })
}).annotate({
  description: "The JSON file that MACP_BOOTSTRAP_FILE names. A reader ignores keys that it does not know"
})
export type BootstrapContent = typeof BootstrapContent.Type
