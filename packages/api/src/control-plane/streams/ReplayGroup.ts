import { about, Field, RunId, RunState } from "@runplane/domain"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import * as Failure from "../../errors/ControlPlaneFailures.ts"
import { operation, tag } from "../../openapi/Describe.ts"
import { integer, numberAtLeast, withDefault } from "../../validation/Fields.ts"
import { RunReference } from "../../validation/Params.ts"
import { bodySchema, querySchema } from "../../validation/RequestSchema.ts"
import { ticketField } from "../runs/RunRequests.ts"

export const ReplayMode = Schema.Literals(["instant", "timed", "step"]).annotate({
  identifier: "ReplayMode",
  description: "timed keeps the pauses between events; instant and step send without pauses"
})
export type ReplayMode = typeof ReplayMode.Type

export const MIN_REPLAY_SPEED = 0.1

const replayFields = {
  mode: withDefault(
    Schema.Literals(ReplayMode.literals).annotate(
      about("timed keeps the pauses between events, divided by speed; instant and step send without pauses", "timed")
    ),
    "timed"
  ),
  speed: withDefault(
    numberAtLeast(MIN_REPLAY_SPEED).annotate(about("What the pauses of a timed replay are divided by", 2)),
    1
  ),
  fromSeq: Schema.optionalKey(
    integer({ min: 1 }).annotate(about("First seq, inclusive; the run's first unless said", 1))
  ),
  toSeq: Schema.optionalKey(integer({ min: 1 }).annotate(about("Last seq, inclusive; the run's last unless said", 50)))
}

/** The body of `POST /runs/:id/replay`. */
export const ReplayRequest = Schema.Struct(replayFields).annotate({
  identifier: "ReplayRequest",
  description: "How to replay, and from where to where; the whole body may be absent"
})

/** The query of `GET /runs/:id/replay/stream`: the same values as text. */
export const replayStreamQuery = querySchema({ ...replayFields, ticket: ticketField })
export type ReplayStreamQuery = typeof replayStreamQuery.Type

export const replayStateQuery = querySchema({
  seq: Schema.optionalKey(
    integer({ min: 0 }).annotate(about("The state after this event; after all of them unless said", 50))
  )
})

/** Where a replay can be read. */
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

/** Replays of runs (docs/reference/streams.md#replay). */
export class ReplayGroup extends HttpApiGroup.make("replay")
  .add(
    HttpApiEndpoint.post("describe", "/runs/:id/replay", {
      params: id,
      payload: bodySchema(ReplayRequest, { unknownKeys: "reject" }),
      success: ReplayDescriptor.pipe(HttpApiSchema.status(201)),
      error: Failure.RunNotFound
    }).annotateMerge(
      operation({
        id: "prepareReplay",
        access: "viewer",
        summary: "Prepare a replay",
        description: "Answers where the replay can be read. Nothing is kept: the addresses say everything."
      })
    ),
    HttpApiEndpoint.get("stream", "/runs/:id/replay/stream", {
      params: id,
      query: replayStreamQuery,
      success: HttpApiSchema.StreamUint8Array({ contentType: "text/event-stream" }),
      error: Failure.RunNotFound
    }).annotateMerge(
      operation({
        id: "streamReplay",
        access: "viewer",
        takesTicket: true,
        summary: "Replay the events of a run",
        description:
          "An event stream (SSE) of stored events. It ends after the last one, and has no heartbeats or snapshots."
      })
    ),
    HttpApiEndpoint.get("state", "/runs/:id/replay/state", {
      params: id,
      query: replayStateQuery,
      success: RunState,
      error: Failure.RunNotFound
    }).annotateMerge(
      operation({
        id: "getReplayState",
        access: "viewer",
        summary: "Read the state of a run as of an event",
        description:
          "The fold of the run's events up to a seq, inclusive: what the state was when that event was stored."
      })
    )
  )
  .annotateMerge(tag("Replay", "The events of a run once more: as a stream, or as the state at any event")) {}
