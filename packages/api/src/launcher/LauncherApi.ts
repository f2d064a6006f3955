import * as HttpApi from "effect/http-api/HttpApi"
import * as OpenApi from "effect/http-api/OpenApi"
import { LauncherApiKey } from "../middleware/LauncherApiKey.ts"
import { LaunchValidation } from "../middleware/LaunchValidation.ts"
import { RateLimit } from "../middleware/RateLimit.ts"
import { MeGroup } from "../service/MeGroup.ts"
import { RUNPLANE_VERSION } from "../Version.ts"
import { CatalogGroup } from "./CatalogGroup.ts"
import { DelegationGroup } from "./DelegationGroup.ts"
import { InboxGroup } from "./InboxGroup.ts"
import { LauncherAdminGroup } from "./LauncherAdminGroup.ts"
import { LauncherHealthGroup } from "./LauncherHealthGroup.ts"
import { LauncherProbesGroup } from "./LauncherProbesGroup.ts"
import { LaunchGroup } from "./LaunchGroup.ts"
import { LinksGroup } from "./LinksGroup.ts"
import { PasskeysGroup } from "./PasskeysGroup.ts"
import { PeopleAuditGroup } from "./PeopleAuditGroup.ts"
import { ProcessesGroup } from "./ProcessesGroup.ts"

/** The HTTP contract of the scenario launch service. */
export class LauncherApi extends HttpApi.make("launcher")
  .add(CatalogGroup)
  .add(LaunchGroup)
  .add(ProcessesGroup)
  .add(PeopleAuditGroup)
  .add(InboxGroup)
  .add(DelegationGroup)
  .add(PasskeysGroup)
  .add(LinksGroup)
  .add(LauncherAdminGroup)
  .middleware(LaunchValidation)
  .add(MeGroup)
  .add(LauncherHealthGroup)
  // The key is checked first: a request with a valid key spends from the budget of that key.
  .middleware(RateLimit)
  .middleware(LauncherApiKey)
  // The probes of a platform need neither of the two.
  .add(LauncherProbesGroup)
  // The control plane validates a descriptor; the compiled one is returned as it is.
  .annotate(HttpApi.SuccessParseOptions, { disableChecks: true })
  .annotateMerge(
    OpenApi.annotations({
      title: "Scenario launch service",
      version: RUNPLANE_VERSION,
      summary: "Catalog of scenario packs, launch schemas, compilation into run descriptors, and example runs.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" }
    })
  ) {}
