import { Field } from "@runplane/domain"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import * as Failure from "../../errors/ControlPlaneFailures.ts"
import { operation, tag } from "../../openapi/Describe.ts"
import { RunReference } from "../../validation/Params.ts"
import { lastEventId, runStreamQuery } from "../runs/RunRequests.ts"

/** What opens the stream of one run once. */
export const StreamTicket = Schema.Struct({
  ticket: Field.text("The ticket: a secret, for the query `ticket`", "rKk0w5Yb0mCqz3k1TtYp9fJc7lG2sVxN4uE8hQdWiRM"),
  runId: Field.text("Id of the run", "5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10"),
  expiresAt: Field.time("When it is worth nothing any more"),
  streamUrl: Field.text(
    "Path of the stream with the ticket in it",
    "/runs/5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10/stream?ticket=rKk0w5Yb0mCqz3k1TtYp9fJc7lG2sVxN4uE8hQdWiRM"
  )
}).annotate({ identifier: "StreamTicket", description: "A ticket for the stream of a run" })
export type StreamTicket = typeof StreamTicket.Type

/**
 * The live stream of a run (docs/reference/streams.md#stream); the typed form is `ControlPlaneClient.streamRun`.
 * Declared as bytes, not as `StreamSse`: that encodes every event once for each subscriber, and all subscribers of a
 * run share the bytes of one encoding.
 */
export class StreamGroup extends HttpApiGroup.make("stream")
  .add(
    HttpApiEndpoint.get("run", "/runs/:id/stream", {
      params: { id: RunReference },
      query: runStreamQuery,
      headers: lastEventId,
      success: HttpApiSchema.StreamUint8Array({ contentType: "text/event-stream" }),
      error: Failure.RunNotFound
    }).annotateMerge(
      operation({
        id: "streamRun",
        access: "viewer",
        takesTicket: true,
        summary: "Follow a run live",
        description:
          "An event stream (SSE) that begins with a snapshot and goes on with what happens. With afterSeq or Last-Event-ID the " +
          "events since then come first, without gap or repeat. The stream ends when the run ends; one that is opened " +
          "later stays open with heartbeats. A cursor beyond the end of the run's log, which was restored from a backup then, " +
          "gives the event reset, a snapshot and what happens from then on. A client that receives nothing for three heartbeats " +
          "should connect again."
      })
    ),
    HttpApiEndpoint.post("ticket", "/runs/:id/stream-tickets", {
      params: { id: RunReference },
      success: StreamTicket.pipe(HttpApiSchema.status(201)),
      error: Failure.RunNotFound
    }).annotateMerge(
      operation({
        id: "createStreamTicket",
        access: "viewer",
        summary: "Get a ticket for the stream of a run",
        description:
          "For an EventSource or a link, which cannot send a key: `ticket` goes into the query of the stream, the replay " +
          "stream or the export of this run, in place of a key. It counts once, within one minute, and carries the role of " +
          "its caller."
      })
    )
  )
  .annotateMerge(tag("Events")) {}
