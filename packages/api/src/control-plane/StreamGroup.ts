import { Field } from "@runplane/domain"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import { NotFound } from "../errors/ControlPlaneErrors.ts"
import { operation, tag } from "../openapi/Describe.ts"
import { RunReference } from "../validation/Params.ts"
import { runStreamQuery } from "./RunRequests.ts"

/**
 * The live stream of a run (docs/http.md#stream); the typed form is `ControlPlaneClient.streamRun`. Declared as bytes,
 * not as `StreamSse`: that encodes every event once for each subscriber, and all subscribers of a run share the bytes
 * of one encoding.
 */
export class StreamGroup extends HttpApiGroup.make("stream")
  .add(
    HttpApiEndpoint.get("run", "/runs/:id/stream", {
      params: { id: RunReference },
      query: runStreamQuery,
      headers: {
        "last-event-id": Schema.optionalKey(
          Field.text("seq of the last event received, as EventSource sends it; what is not a number is ignored", "42")
        )
      },
      success: HttpApiSchema.StreamUint8Array({ contentType: "text/event-stream" }),
      error: NotFound
    }).annotateMerge(
      operation({
        id: "streamRun",
        summary: "Follow a run live",
        description:
          "An event stream (SSE) that begins with a snapshot and goes on with what happens. With afterSeq or Last-Event-ID the " +
          "events since then come first, without gap or repeat. The stream ends when the run ends; one that is opened " +
          "later stays open with heartbeats. A client that receives nothing for three heartbeats should connect again.",
        failures: ["RunNotFound"]
      })
    )
  )
  .annotateMerge(tag("Events")) {}
