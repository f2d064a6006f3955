import { RunId, RunState } from "@runplane/domain"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import { NotFound } from "../errors/ControlPlaneErrors.ts"
import { Authorization } from "../middleware/Authorization.ts"
import { RateLimit } from "../middleware/RateLimit.ts"
import { RequestValidation } from "../middleware/RequestValidation.ts"
import { requestDescription } from "../openapi/Describe.ts"
import { oneOf } from "../validation/BodyRules.ts"
import { integerAtLeast, numberAtLeast, queryNumberAtLeast } from "../validation/NumberRules.ts"
import { object } from "../validation/ObjectRule.ts"
import { RunReference } from "../validation/Params.ts"
import { queryInteger } from "../validation/QueryRules.ts"
import { bodySchema, querySchema } from "../validation/RequestSchema.ts"
import { described, optional, withDefault } from "../validation/Rule.ts"

export const ReplayMode = Schema.Literals(["instant", "timed", "step"]).annotate({ identifier: "ReplayMode" })
export type ReplayMode = typeof ReplayMode.Type

export const MIN_REPLAY_SPEED = 0.1

const mode = described(
  withDefault(oneOf(ReplayMode.literals), "timed"),
  "timed keeps the pauses between events, divided by speed; instant and step send without pauses"
)
const FROM_SEQ = "First seq, inclusive"
const TO_SEQ = "Last seq, inclusive"

/** The body of `POST /runs/:id/replay` (http-details section 9). */
export const replayRule = object(
  {
    mode,
    speed: withDefault(numberAtLeast(MIN_REPLAY_SPEED), 1),
    fromSeq: described(optional(integerAtLeast(1)), FROM_SEQ),
    toSeq: described(optional(integerAtLeast(1)), TO_SEQ)
  },
  { unknownKeys: "reject" }
)

/** The query of `GET /runs/:id/replay/stream`: the same values as text. */
export const replayStreamQuery = querySchema({
  mode,
  speed: withDefault(queryNumberAtLeast(MIN_REPLAY_SPEED), 1),
  fromSeq: described(optional(queryInteger({ min: 1 })), FROM_SEQ),
  toSeq: described(optional(queryInteger({ min: 1 })), TO_SEQ)
})
export type ReplayStreamQuery = typeof replayStreamQuery.schema.Type

export const replayStateQuery = querySchema({
  seq: described(optional(queryInteger({ min: 0 })), "The state after this event; after all of them when absent")
})
export type ReplayStateQuery = typeof replayStateQuery.schema.Type

/** Where a replay can be read (http-details section 9). */
export const ReplayDescriptor = Schema.Struct({
  runId: RunId,
  mode: ReplayMode,
  speed: Schema.Number,
  fromSeq: Schema.optionalKey(Schema.Int),
  toSeq: Schema.optionalKey(Schema.Int),
  streamUrl: Schema.String.annotate({ description: "Relative to the service" }),
  stateUrl: Schema.String.annotate({ description: "Relative to the service" })
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
      requestDescription({ summary: "Prepare a replay", body: { name: "ReplayRequest", rule: replayRule } })
    ),
    HttpApiEndpoint.get("stream", "/runs/:id/replay/stream", {
      params: id,
      query: replayStreamQuery.schema,
      success: HttpApiSchema.StreamUint8Array({ contentType: "text/event-stream" }),
      error: NotFound
    }).annotateMerge(
      requestDescription({
        summary: "Replay the events of a run: canonical_event frames, then the end",
        query: replayStreamQuery.rule
      })
    ),
    HttpApiEndpoint.get("state", "/runs/:id/replay/state", {
      params: id,
      query: replayStateQuery.schema,
      success: RunState,
      error: NotFound
    }).annotateMerge(
      requestDescription({ summary: "Read the state of a run as of an event", query: replayStateQuery.rule })
    )
  )
  .middleware(RequestValidation)
  .middleware(RateLimit)
  .middleware(Authorization) {}
