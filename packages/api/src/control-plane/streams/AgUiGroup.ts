import { about, Field } from "@runplane/domain"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import * as Failure from "../../errors/ControlPlaneFailures.ts"
import { operation, tag } from "../../openapi/Describe.ts"
import { integer, withDefault } from "../../validation/Fields.ts"
import { RunReference } from "../../validation/Params.ts"
import { bodySchema, querySchema } from "../../validation/RequestSchema.ts"
import { lastEventId, MIN_HEARTBEAT_MS, ticketField } from "../runs/RunRequests.ts"

/** Longest id of a thread or of a run that a front end may choose, characters. */
export const MAX_AG_UI_ID = 256

const queryFields = {
  interrupts: withDefault(
    Schema.Boolean.annotate(
      about(
        "Whether an open question to a person ends the stream with an interrupt; any text but true is false: the stream " +
          "then goes on to the end of the run",
        true
      )
    ),
    true
  ),
  since: Schema.optionalKey(
    integer({ min: 0 }).annotate(about("Continue behind this seq; from the first event unless said", 0))
  ),
  heartbeatMs: Schema.optionalKey(
    integer({ min: MIN_HEARTBEAT_MS }).annotate(
      about("Milliseconds between heartbeats; the setting STREAM_SSE_HEARTBEAT_MS (15000) unless said", 15_000)
    )
  )
}

/** The query of `GET /runs/:id/ag-ui`. */
export const agUiQuery = querySchema({ ticket: ticketField, ...queryFields })
export type AgUiQuery = typeof agUiQuery.Type

const idOf = (description: string, example: string) =>
  Schema.optionalKey(Field.text(description, example).check(Schema.isMinLength(1), Schema.isMaxLength(MAX_AG_UI_ID)))

/** The part of a `RunAgentInput` that a stream uses. */
export const AgUiInput = Schema.Struct({
  threadId: idOf("The front end's id of the conversation; the id of the run unless said", "thread-1"),
  runId: idOf(
    "The front end's id of this stream; the id of the run unless said",
    "5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10"
  )
}).annotate({ identifier: "AgUiInput", description: "The RunAgentInput of AG-UI; its other members are ignored" })

const stream = HttpApiSchema.StreamUint8Array({ contentType: "text/event-stream" })

/** A run for front ends that speak AG-UI (docs/reference/ag-ui.md). */
export class AgUiGroup extends HttpApiGroup.make("agUi")
  .add(
    HttpApiEndpoint.get("follow", "/runs/:id/ag-ui", {
      params: { id: RunReference },
      query: agUiQuery,
      headers: lastEventId,
      success: stream,
      error: Failure.RunNotFound
    }).annotateMerge(
      operation({
        id: "followRunAsAgUi",
        access: "viewer",
        takesTicket: true,
        summary: "Follow a run with AG-UI",
        description:
          "An event stream (SSE) of AG-UI 1.0 that shows a live or an ended run: its messages, tool calls, phases as steps, " +
          "state, and outcome. It ends with RUN_FINISHED or RUN_ERROR. The ids of the events are seqs: since or " +
          "Last-Event-ID continues behind one."
      })
    ),
    HttpApiEndpoint.post("run", "/runs/:id/ag-ui", {
      params: { id: RunReference },
      query: querySchema(queryFields),
      payload: bodySchema(AgUiInput, { unknownKeys: "drop" }),
      success: stream,
      error: Failure.RunNotFound
    }).annotateMerge(
      operation({
        id: "runAsAgUi",
        access: "viewer",
        summary: "Follow a run with an AG-UI agent",
        description:
          "The same stream for clients of AG-UI, which send a RunAgentInput. The stream has its thread and run id. Nothing " +
          "is sent to the session: messages, tools and state of the input are ignored."
      })
    )
  )
  .annotateMerge(tag("Events")) {}
