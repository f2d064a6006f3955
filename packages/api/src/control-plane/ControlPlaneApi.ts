import * as HttpApi from "effect/http-api/HttpApi"
import * as OpenApi from "effect/http-api/OpenApi"
import { Authorization } from "../middleware/Authorization.ts"
import { RateLimit } from "../middleware/RateLimit.ts"
import { RequestValidation } from "../middleware/RequestValidation.ts"
import { MeGroup } from "../service/MeGroup.ts"
import { RUNPLANE_VERSION } from "../Version.ts"
import { AdminGroup } from "./AdminGroup.ts"
import { AgUiGroup } from "./AgUiGroup.ts"
import { AlertsGroup } from "./AlertsGroup.ts"
import { AuditGroup } from "./AuditGroup.ts"
import { BatchGroup } from "./BatchGroup.ts"
import { CrossRunEventsGroup } from "./CrossRunEventsGroup.ts"
import { DashboardGroup } from "./DashboardGroup.ts"
import { DecisionsGroup } from "./DecisionsGroup.ts"
import { EventsGroup } from "./EventsGroup.ts"
import { HealthGroup } from "./HealthGroup.ts"
import { IngestGroup } from "./IngestGroup.ts"
import { InsightsGroup } from "./InsightsGroup.ts"
import { ManagementGroup } from "./ManagementGroup.ts"
import { MarkReportsGroup } from "./MarkReportsGroup.ts"
import { MarksGroup } from "./MarksGroup.ts"
import { PoliciesGroup } from "./PoliciesGroup.ts"
import { PricingGroup } from "./PricingGroup.ts"
import { QueryGroup } from "./QueryGroup.ts"
import { RemovedGroup } from "./RemovedGroup.ts"
import { ReplayGroup } from "./ReplayGroup.ts"
import { RunsGroup } from "./RunsGroup.ts"
import { RuntimeGroup } from "./RuntimeGroup.ts"
import { LedgerGroup, SealKeysGroup, SealsGroup } from "./SealsGroup.ts"
import { StreamGroup } from "./StreamGroup.ts"
import { ViewsGroup } from "./ViewsGroup.ts"
import { WebhooksGroup } from "./WebhooksGroup.ts"

/** The HTTP contract of the run control plane. */
export class ControlPlaneApi extends HttpApi.make("control-plane")
  .add(RunsGroup)
  .add(EventsGroup)
  .add(CrossRunEventsGroup)
  .add(StreamGroup)
  .add(AgUiGroup)
  .add(ReplayGroup)
  .add(DashboardGroup)
  .add(PoliciesGroup)
  .add(RuntimeGroup)
  .add(WebhooksGroup)
  .add(AuditGroup)
  .add(AdminGroup)
  .add(ManagementGroup)
  .add(BatchGroup)
  .add(InsightsGroup)
  .add(QueryGroup)
  .add(PricingGroup)
  .add(MeGroup)
  .add(DecisionsGroup)
  .add(MarkReportsGroup)
  .add(ViewsGroup)
  .add(SealsGroup)
  .add(LedgerGroup)
  .add(MarksGroup)
  .add(AlertsGroup)
  .add(RemovedGroup)
  .middleware(RequestValidation)
  .middleware(RateLimit)
  // Exports have budgets of their own: some exporters send each span by itself.
  .add(IngestGroup)
  .middleware(Authorization)
  // Probes, metrics and public keys are behind none of the three.
  .add(HealthGroup)
  .add(SealKeysGroup)
  .annotateMerge(
    OpenApi.annotations({
      title: "Run control plane",
      version: RUNPLANE_VERSION,
      summary: "Creates runs of multi-agent sessions, watches them, and serves their events and state.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" }
    })
  ) {}
