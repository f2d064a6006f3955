import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import { NotFound } from "../errors/ControlPlaneErrors.ts"
import { Authorization } from "../middleware/Authorization.ts"
import { RateLimit } from "../middleware/RateLimit.ts"
import { RequestValidation } from "../middleware/RequestValidation.ts"
import { requestDescription } from "../openapi/Describe.ts"
import { RunReference } from "../validation/Params.ts"
import { runStreamQuery } from "./RunRequests.ts"

/**
 * The live stream of a run (http-details section 8). Declared as bytes because frames carry ids and heartbeats; the
 * typed form is `ControlPlaneClient.streamRun`.
 */
export class StreamGroup extends HttpApiGroup.make("stream")
  .add(
    HttpApiEndpoint.get("run", "/runs/:id/stream", {
      params: { id: RunReference },
      query: runStreamQuery.schema,
      headers: { "last-event-id": Schema.optionalKey(Schema.String) },
      success: HttpApiSchema.StreamUint8Array({ contentType: "text/event-stream" }),
      error: NotFound
    }).annotateMerge(
      requestDescription({
        summary: "Follow a run: snapshot, canonical_event and heartbeat frames",
        query: runStreamQuery.rule
      })
    )
  )
  .middleware(RequestValidation)
  .middleware(RateLimit)
  .middleware(Authorization) {}
