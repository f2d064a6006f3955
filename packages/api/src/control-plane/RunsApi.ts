import * as HttpApi from "effect/http-api/HttpApi"
import { Authorization } from "../middleware/Authorization.ts"
import { RateLimit } from "../middleware/RateLimit.ts"
import { RequestValidation } from "../middleware/RequestValidation.ts"
import { MeGroup } from "../service/MeGroup.ts"
import { EventsGroup } from "./events/EventsGroup.ts"
import { RunsGroup } from "./runs/RunsGroup.ts"
import { StreamGroup } from "./streams/StreamGroup.ts"

/**
 * The part of `ControlPlaneApi` that follows runs: the runs, their events, their streams, and the caller. For clients
 * that count bytes: a page can begin with it and load the rest of the contract later.
 */
export class RunsApi extends HttpApi.make("control-plane")
  .add(RunsGroup)
  .add(EventsGroup)
  .add(StreamGroup)
  .add(MeGroup)
  .middleware(RequestValidation)
  .middleware(RateLimit)
  .middleware(Authorization) {}
