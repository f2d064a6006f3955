import * as HttpApi from "effect/http-api/HttpApi"
import { LauncherApiKey } from "../middleware/LauncherApiKey.ts"
import { LaunchValidation } from "../middleware/LaunchValidation.ts"
import { RateLimit } from "../middleware/RateLimit.ts"
import { MeGroup } from "../service/MeGroup.ts"
import { InboxGroup } from "./InboxGroup.ts"
import { LinksGroup } from "./LinksGroup.ts"
import { PasskeysGroup } from "./PasskeysGroup.ts"

/** The part of `LauncherApi` that the page of the inbox calls: the questions to people, and the caller. */
export class InboxApi extends HttpApi.make("launcher")
  .add(InboxGroup)
  .add(PasskeysGroup)
  .add(LinksGroup)
  .middleware(LaunchValidation)
  .add(MeGroup)
  .middleware(RateLimit)
  .middleware(LauncherApiKey) {}
