import * as HttpApi from "effect/http-api/HttpApi"
import * as OpenApi from "effect/http-api/OpenApi"
import { hoistNamedBodies } from "../openapi/Describe.ts"
import { EventsGroup } from "./EventsGroup.ts"
import { HealthGroup } from "./HealthGroup.ts"
import { PoliciesGroup } from "./PoliciesGroup.ts"
import { RemovedGroup } from "./RemovedGroup.ts"
import { RunsGroup } from "./RunsGroup.ts"
import { StreamGroup } from "./StreamGroup.ts"

/** The HTTP contract of the run control plane (run-control-plane "Endpoints"). */
export class ControlPlaneApi extends HttpApi.make("control-plane")
  .add(RunsGroup)
  .add(EventsGroup)
  .add(StreamGroup)
  .add(PoliciesGroup)
  .add(RemovedGroup)
  .add(HealthGroup)
  .annotateMerge(
    OpenApi.annotations({
      title: "Run control plane",
      version: "0.1.0",
      description: "Creates runs of multi-agent sessions, watches them, and serves their events and state.",
      transform: hoistNamedBodies
    })
  ) {}
