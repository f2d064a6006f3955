import { Field } from "@runplane/domain"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Schema from "effect/Schema"
import * as Failure from "../../errors/ControlPlaneFailures.ts"
import { operation, tag } from "../../openapi/Describe.ts"

/** Who the runtime is (docs/reference/admin.md#runtime-endpoints). */
export const RuntimeManifest = Schema.Struct({
  agentId: Field.text("Id of the runtime"),
  title: Schema.optionalKey(Field.text("Its name")),
  description: Schema.optionalKey(Field.text("What it says of itself")),
  supportedModes: Field.texts("Modes that sessions can have", ["macp.mode.decision.v1"]),
  metadata: Schema.Record(Schema.String, Schema.String).annotate({
    description: "Other metadata, texts by name"
  })
}).annotate({ identifier: "RuntimeManifest", description: "The runtime's identity and supported modes" })
export type RuntimeManifest = typeof RuntimeManifest.Type

export const RuntimeMode = Schema.Struct({
  mode: Field.text("Name of the mode", "macp.mode.decision.v1"),
  modeVersion: Field.text("Its version", "1.0.0"),
  title: Schema.optionalKey(Field.text("Name for readers")),
  description: Schema.optionalKey(Field.text("What it is for")),
  determinismClass: Schema.optionalKey(Field.text("How far a replay of its messages gives the same result")),
  participantModel: Schema.optionalKey(Field.text("How participants stand to each other")),
  messageTypes: Field.texts("Types of messages it knows"),
  terminalMessageTypes: Field.texts("Those that end a session"),
  schemaUris: Schema.Record(Schema.String, Schema.String).annotate({ description: "Where schemas are, by name" })
}).annotate({ identifier: "RuntimeMode", description: "A session mode that the runtime has registered" })

export const RuntimeRoot = Schema.Struct({
  uri: Field.text("Where the root is"),
  name: Schema.optionalKey(Field.text("Its name"))
}).annotate({ identifier: "RuntimeRoot", description: "A root that the runtime offers" })

/** Always answered with 200: `ok` and `detail` say how the runtime is. */
export const RuntimeState = Schema.Struct({
  ok: Field.flag("Whether the runtime answers"),
  runtimeKind: Field.text("Kind of the runtime", "rust"),
  detail: Field.text("Where it is, or why it does not answer", "connected to 127.0.0.1:50051"),
  manifest: Schema.optionalKey(RuntimeManifest)
}).annotate({ identifier: "RuntimeState", description: "Whether the runtime answers, and why not" })
export type RuntimeState = typeof RuntimeState.Type

/** The runtime behind the service, read through. */
export class RuntimeGroup extends HttpApiGroup.make("runtime")
  .add(
    HttpApiEndpoint.get("manifest", "/runtime/manifest", {
      success: RuntimeManifest,
      error: Failure.runtime
    }).annotateMerge(
      operation({
        id: "getRuntimeManifest",
        access: "viewer",
        summary: "Read the runtime's manifest",
        description: "Who the runtime is and which modes it supports, read at the time of the request."
      })
    ),
    HttpApiEndpoint.get("modes", "/runtime/modes", {
      success: Schema.Array(RuntimeMode),
      error: Failure.runtime
    }).annotateMerge(
      operation({
        id: "listRuntimeModes",
        access: "viewer",
        summary: "List the runtime's modes",
        description: "The registered session modes with their message types."
      })
    ),
    HttpApiEndpoint.get("roots", "/runtime/roots", {
      success: Schema.Array(RuntimeRoot),
      error: Failure.runtime
    }).annotateMerge(
      operation({
        id: "listRuntimeRoots",
        access: "viewer",
        summary: "List the runtime's roots",
        description: "The roots that the runtime offers; mostly none."
      })
    ),
    HttpApiEndpoint.get("health", "/runtime/health", { success: RuntimeState }).annotateMerge(
      operation({
        id: "getRuntimeHealth",
        access: "viewer",
        summary: "Check that the runtime answers",
        description: "Always 200: `ok` and `detail` have the state of the runtime."
      })
    )
  )
  .annotateMerge(tag("Runtime", "The runtime behind the service, read through")) {}
