import {
  about,
  Field,
  idempotencyKey,
  isOneLine,
  PeopleText,
  RemoteTurns,
  RunDescriptor,
  RunMode,
  RunTelemetry
} from "@runplane/domain"
import * as Schema from "effect/Schema"
import { HostedAgent } from "./Catalog.ts"

const absent = Schema.optionalKey

/** What the initiator agent needs to open the session (docs/internals/launch.md#initiator). */
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

/** A compiled launch (docs/internals/launch.md#compile-result). */
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
    templateId: absent(Field.text("The requested template", "default")),
    expectedDecisionKinds: absent(Field.texts("Decisions that the session comes to"))
  }).annotate({ description: "What a page shows of the launch" }),
  participantBindings: Schema.Array(
    Schema.Struct({
      participantId: Field.text("The participant", "replication-analyst"),
      role: Field.text("Its role in the session"),
      agentRef: Field.text("The agent that speaks for it", "replication-agent")
    })
  ).annotate({ description: "Which agent speaks for whom" }),
  people: absent(PeopleText),
  a2a: absent(RemoteTurns),
  shadows: absent(
    Schema.Array(
      Schema.Struct({
        shadow: Field.text("Its name where votes are counted", "risk-officer~risk-agent"),
        as: Field.text("The participant that it is tried beside", "risk-officer"),
        agent: Field.text("The agent that is tried", "risk-agent")
      })
    ).annotate({ description: "Agents that are tried beside a participant: they change nothing in the session" })
  )
}).annotate({
  identifier: "CompileLaunchResult",
  description: "A run descriptor with the start data of its initiator agent"
})
export type CompileLaunchResult = typeof CompileLaunchResult.Type

export const ControlPlaneRun = Schema.Struct({
  runId: Field.text("Id of the run: UUID"),
  sessionId: Field.text("Its session"),
  status: Field.text("Its status when it was submitted", "queued"),
  traceId: absent(Field.text("W3C trace id: 32 hex digits; absent when the control plane does not return it"))
}).annotate({ identifier: "ControlPlaneRun", description: "The run that the control plane made of the descriptor" })
export type ControlPlaneRun = typeof ControlPlaneRun.Type

/** Launches that wait for capacity for their agents (docs/internals/launch.md#queue). */
export const LaunchQueue = Schema.Struct({
  agents: Schema.Struct({
    running: Field.integer("Agent processes that run or are about to"),
    limit: Field.integer("Most agent processes at a time", 16)
  }).annotate({ description: "Capacity for agents" }),
  limit: Field.integer("Most launches that wait", 32),
  waiting: Schema.Array(
    Schema.Struct({
      position: Field.integer("Position in the queue, from 1"),
      sessionId: Field.text("The session that the launch has allocated"),
      scenarioRef: Field.text("The scenario: pack/scenario@version", "incident/region-failover@1.0.0"),
      runLabel: absent(Field.text("The label that the caller gave the run")),
      agents: Field.integer("Agent processes that it needs"),
      waitingMs: Field.integer("How long it has waited, milliseconds")
    })
  ).annotate({ description: "Launches that wait, the next one first" })
}).annotate({ identifier: "LaunchQueue", description: "Launches that wait for capacity for their agents" })
export type LaunchQueue = typeof LaunchQueue.Type

/** The answer of `POST /examples/run`; without agents to start only `compiled` and an empty `hostedAgents`. */
export const ExampleRun = Schema.Struct({
  compiled: CompileLaunchResult,
  hostedAgents: Schema.Array(HostedAgent).annotate({
    description: "The agents, in the order of the scenario; empty when none were to be started"
  }),
  sessionId: absent(Field.text("The session; absent when no agents were to be started")),
  controlPlaneRun: absent(ControlPlaneRun),
  links: absent(
    Schema.Struct({
      run: Field.text("The run at the control plane"),
      page: Field.text("Its page in the web console")
    }).annotate({ description: "Where the run is found; there with controlPlaneRun" })
  ),
  queue: absent(
    Schema.Struct({
      position: Field.integer("Position in the queue when the launch began to wait, from 1"),
      waitedMs: Field.integer("How long it waited, milliseconds")
    }).annotate({ description: "The wait of the launch for capacity for its agents; absent when it did not wait" })
  )
}).annotate({
  identifier: "ExampleRun",
  description: "A launched example. controlPlaneRun is absent when nothing was submitted, or the submission failed"
})
export type ExampleRun = typeof ExampleRun.Type

/** On whose behalf a run is made; unknown keys are left out. */
const Requester = Schema.Struct({
  actorId: absent(Field.text("Id of the requester, in the caller's own terms").check(isOneLine)),
  actorType: absent(Schema.Literals(["user", "service", "system"]).annotate({ description: "What the requester is" }))
}).annotate({ description: "On whose behalf; replaces the requester of the scenario" })

const compileFields = {
  // The text about an empty reference comes before the one about its type.
  scenarioRef: Field.text("The scenario: pack/scenario@version", "incident/region-failover@1.0.0")
    .annotate({ emptyFirst: true })
    // Another form is refused with a code of its own.
    .check(
      Schema.isMinLength(1),
      Schema.makeFilter(() => true, { toJsonSchema: () => ({ pattern: "^[^/@]+/[^/@]+@[^/@]+$" }) })
    ),
  templateId: absent(
    Field.text("Slug of a template: its inputs stand in for missing ones, its changes apply to the launch")
  ),
  mode: absent(Schema.Literals(RunMode.literals).annotate({ description: "Mode of the run; sandbox unless said" })),
  inputs: Field.object("Inputs, checked against the JSON Schema of the scenario")
}

/** The body of `POST /launch/compile`. */
export const CompileRequest = Schema.Struct(compileFields).annotate({
  identifier: "CompileRequest",
  description: "A scenario and its inputs; unknown keys are dropped"
})
export type CompileRequest = typeof CompileRequest.Type

/** The case of a gate that a run belongs to (docs/reference/gate.md#seed). */
const GateOfRun = Schema.Struct({
  case: Field.text("Name of the case", "region-failover"),
  seed: absent(
    Schema.Union([Schema.String, Schema.Int]).annotate(about("Seed of the agents; a model may ignore it", 7))
  ),
  model: absent(Field.text("Model that the agents should call; an agent may ignore it")),
  variant: absent(Field.text("Combination of the inputs that the case varies", "inputs=2"))
}).annotate({ description: "The case of a gate that the run belongs to, kept as gate in the session's metadata" })

/** The body of `POST /examples/run`; field order is the order of its messages. */
export const ExampleRunRequest = Schema.Struct({
  ...compileFields,
  bootstrapAgents: absent(
    Field.flag("Whether to start agents and to submit the run; the setting AUTO_BOOTSTRAP_EXAMPLE_AGENTS unless said")
  ),
  tags: absent(
    Schema.Array(Schema.String.check(isOneLine)).annotate(about("Added to the tags of the run", ["nightly"]))
  ),
  requester: absent(Requester),
  runLabel: absent(Field.text("Name of this run for readers, kept in the session's metadata").check(isOneLine)),
  idempotencyKey: absent(
    idempotencyKey("A second request with this key and body starts nothing and has the answer of the first", "ci-4711")
  ),
  gate: absent(GateOfRun),
  telemetry: absent(
    Schema.Struct(RunTelemetry.fields).annotate({ description: "Which OpenTelemetry may join the run" })
  ),
  againOf: absent(
    Field.text("Id of the run that this one repeats, kept in the session's metadata").check(
      Schema.isMinLength(1),
      Schema.isMaxLength(64),
      isOneLine
    )
  )
}).annotate({
  identifier: "ExampleRunRequest",
  description: "A scenario, its inputs, and how to run it; unknown keys are dropped"
})
export type ExampleRunRequest = typeof ExampleRunRequest.Type
