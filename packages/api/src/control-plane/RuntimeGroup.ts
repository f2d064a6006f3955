import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Schema from "effect/Schema"
import { BadRequest, Conflict, NotFound, runtimeErrors } from "../errors/ControlPlaneErrors.ts"
import { Authorization } from "../middleware/Authorization.ts"
import { RateLimit } from "../middleware/RateLimit.ts"
import { RequestValidation } from "../middleware/RequestValidation.ts"
import { summary } from "../openapi/Describe.ts"

/** Who the runtime is (http-details section 11). */
export const RuntimeManifest = Schema.Struct({
  agentId: Schema.String,
  title: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.String),
  supportedModes: Schema.Array(Schema.String).annotate({ examples: [["macp.mode.decision.v1"]] }),
  metadata: Schema.Record(Schema.String, Schema.String)
}).annotate({ identifier: "RuntimeManifest", description: "The runtime's identity and supported modes" })
export type RuntimeManifest = typeof RuntimeManifest.Type

export const RuntimeMode = Schema.Struct({
  mode: Schema.String.annotate({ examples: ["macp.mode.decision.v1"] }),
  modeVersion: Schema.String,
  title: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.String),
  determinismClass: Schema.optionalKey(Schema.String),
  participantModel: Schema.optionalKey(Schema.String),
  messageTypes: Schema.Array(Schema.String),
  terminalMessageTypes: Schema.Array(Schema.String),
  schemaUris: Schema.Record(Schema.String, Schema.String)
}).annotate({ identifier: "RuntimeMode", description: "A session mode that the runtime has registered" })

export const RuntimeRoot = Schema.Struct({
  uri: Schema.String,
  name: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "RuntimeRoot" })

/** Always answered with 200: `ok` and `detail` say how the runtime is. */
export const RuntimeState = Schema.Struct({
  ok: Schema.Boolean,
  runtimeKind: Schema.String,
  detail: Schema.String.annotate({ examples: ["connected to 127.0.0.1:50051"] }),
  manifest: Schema.optionalKey(RuntimeManifest)
}).annotate({ identifier: "RuntimeState", description: "Whether the runtime answers, and why not" })
export type RuntimeState = typeof RuntimeState.Type

const failures = [BadRequest, NotFound, Conflict, ...runtimeErrors] as const

/** The runtime behind the service, read through (run-control-plane "Runtime and policies"). */
export class RuntimeGroup extends HttpApiGroup.make("runtime")
  .add(
    HttpApiEndpoint.get("manifest", "/runtime/manifest", { success: RuntimeManifest, error: failures }).annotateMerge(
      summary("The runtime's manifest")
    ),
    HttpApiEndpoint.get("modes", "/runtime/modes", {
      success: Schema.Array(RuntimeMode),
      error: failures
    }).annotateMerge(summary("The runtime's registered modes")),
    HttpApiEndpoint.get("roots", "/runtime/roots", {
      success: Schema.Array(RuntimeRoot),
      error: failures
    }).annotateMerge(summary("The runtime's roots")),
    HttpApiEndpoint.get("health", "/runtime/health", { success: RuntimeState }).annotateMerge(
      summary("Whether the runtime answers; always 200")
    )
  )
  .middleware(RequestValidation)
  .middleware(RateLimit)
  .middleware(Authorization) {}
