import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import { tag } from "../openapi/Describe.ts"
import { setLogLevel } from "../service/LogLevel.ts"

/** Operation of the launch service. */
export class LauncherAdminGroup extends HttpApiGroup.make("admin")
  .add(setLogLevel)
  .annotateMerge(tag("Administration", "Operation of the service")) {}
