import { Field, RunId, RunState } from "@runplane/domain"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import { NotFound } from "../errors/ControlPlaneErrors.ts"
import { Authorization } from "../middleware/Authorization.ts"
import { RateLimit } from "../middleware/RateLimit.ts"
import { RequestValidation } from "../middleware/RequestValidation.ts"
import { operation, tag } from "../openapi/Describe.ts"
import { oneOf } from "../validation/BodyRules.ts"
import { integerAtLeast, numberAtLeast, queryNumberAtLeast } from "../validation/NumberRules.ts"
import { object } from "../validation/ObjectRule.ts"
import { RunReference } from "../validation/Params.ts"
import { queryInteger } from "../validation/QueryRules.ts"
import { bodySchema, querySchema } from "../validation/RequestSchema.ts"
import { described, optional, withDefault } from "../validation/Rule.ts"

export const ReplayMode = Schema.Literals(["instant", "timed", "step"]).annotate({
  identifier: "ReplayMode",
  description: "timed keeps the pauses between events; instant and step send without pauses"
})
export type ReplayMode = typeof ReplayMode.Type

export const MIN_REPLAY_SPEED = 0.1

const mode = described(
  withDefault(oneOf(ReplayMode.literals), "timed"),
  "timed keeps the pauses between events, divided by speed; instant and step send without pauses",
  "timed"
)
const SPEED = "What the pauses of a timed replay are divided by"
const FROM_SEQ = "First seq, inclusive; the run's first unless said"
const TO_SEQ = "Last seq, inclusive; the run's last unless said"

/** The body of `POST /runs/:id/replay` (http-details section 9). */
export const replayRule = object(
  {
    mode,
    speed: described(withDefault(numberAtLeast(MIN_REPLAY_SPEED), 1), SPEED, 2),
    fromSeq: described(optional(integerAtLeast(1)), FROM_SEQ, 1),
    toSeq: described(optional(integerAtLeast(1)), TO_SEQ, 50)
  },
  { unknownKeys: "reject" }
)

/** The query of `GET /runs/:id/replay/stream`: the same values as text. */
export const replayStreamQuery = querySchema({
  mode,
  speed: described(withDefault(queryNumberAtLeast(MIN_REPLAY_SPEED), 1), SPEED, 2),
  fromSeq: described(optional(queryInteger({ min: 1 })), FROM_SEQ, 1),
  toSeq: described(optional(queryInteger({ min: 1 })), TO_SEQ, 50)
})
export type ReplayStreamQuery = typeof replayStreamQuery.schema.Type

export const replayStateQuery = querySchema({
  seq: described(optional(queryInteger({ min: 0 })), "The state after this event; after all of them unless said", 50)
})

/** Where a replay can be read (http-details section 9). */
export const ReplayDescriptor = Schema.Struct({
  runId: RunId,
  mode: ReplayMode,
  speed: Field.number("What the pauses of a timed replay are divided by", 1),
  fromSeq: Schema.optionalKey(Field.integer("First seq, inclusive; the run's first when absent")),
  toSeq: Schema.optionalKey(Field.integer("Last seq, inclusive; the run's last when absent")),
  streamUrl: Field.text("Where to read the events, relative to the service"),
  stateUrl: Field.text("Where to read the state at a seq, relative to the service")
}).annotate({ identifier: "ReplayDescriptor", description: "A replay and where to read it" })
export type ReplayDescriptor = typeof ReplayDescriptor.Type

const id = { id: RunReference }

/** Replays of runs (run-control-plane "Runs", "Replay modes"). */
export class ReplayGroup extends HttpApiGroup.make("replay")
  .add(
    HttpApiEndpoint.post("describe", "/runs/:id/replay", {
      params: id,
      payload: bodySchema(replayRule),
      success: ReplayDescriptor.pipe(HttpApiSchema.status(201)),
      error: NotFound
    }).annotateMerge(
      operation({
        id: "prepareReplay",
        summary: "Prepare a replay",
        description: "Answers where the replay can be read. Nothing is kept: the addresses say everything.",
        failures: ["RunNotFound"],
        body: {
          name: "ReplayRequest",
          description: "How to replay, and from where to where; the whole body may be absent",
          rule: replayRule
        }
      })
    ),
    HttpApiEndpoint.get("stream", "/runs/:id/replay/stream", {
      params: id,
      query: replayStreamQuery.schema,
      success: HttpApiSchema.StreamUint8Array({ contentType: "text/event-stream" }),
      error: NotFound
    }).annotateMerge(
      operation({
        id: "streamReplay",
        summary: "Replay the events of a run",
        description:
          "An event stream (SSE) of stored events. It ends after the last one, and has no heartbeats or snapshots.",
        failures: ["RunNotFound"],
        query: replayStreamQuery.rule
      })
    ),
    HttpApiEndpoint.get("state", "/runs/:id/replay/state", {
      params: id,
      query: replayStateQuery.schema,
      success: RunState,
      error: NotFound
    }).annotateMerge(
      operation({
        id: "getReplayState",
        summary: "Read the state of a run as of an event",
        description:
          "The fold of the run's events up to a seq, inclusive: what the state was when that event was stored.",
        failures: ["RunNotFound"],
        query: replayStateQuery.rule
      })
    )
  )
  .middleware(RequestValidation)
  .middleware(RateLimit)
  .middleware(Authorization)
  .annotateMerge(tag("Replay", "What happened in a run, told again: as a stream, or as the state at any event")) {}
