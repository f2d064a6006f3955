import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Failure from "../errors/ControlPlaneFailures.ts"
import { operation, tag } from "../openapi/Describe.ts"
import { RunReference } from "../validation/Params.ts"

const removed = <const Name extends string, const Path extends `/${string}`>(name: Name, path: Path) =>
  HttpApiEndpoint.post(name, path, { params: { id: RunReference }, error: Failure.EndpointRemoved }).annotateMerge(
    operation({
      id: `${name}Removed`,
      access: "viewer",
      summary: "Removed: always answers 410",
      description:
        "The service does not write into sessions: agents send to the runtime themselves, with the agent SDK. Neither the " +
        "body nor the run is looked at.",
      deprecated: true
    })
  )

/**
 * The former emission endpoints; neither the body nor the run is read (docs/reference/http.md#removed-endpoints).
 */
export class RemovedGroup extends HttpApiGroup.make("removed")
  .add(
    removed("messages", "/runs/:id/messages"),
    removed("signal", "/runs/:id/signal"),
    removed("context", "/runs/:id/context")
  )
  .annotateMerge(tag("Removed", "Former endpoints")) {}
