import * as HttpApi from "effect/http-api/HttpApi"
import * as OpenApi from "effect/http-api/OpenApi"
import { Authorization } from "../middleware/Authorization.ts"
import { RateLimit } from "../middleware/RateLimit.ts"
import { RequestValidation } from "../middleware/RequestValidation.ts"
import { MeGroup } from "../service/MeGroup.ts"
import { RUNPLANE_VERSION } from "../Version.ts"
import { AdminGroup } from "./admin/AdminGroup.ts"
import { AlertsGroup } from "./alerts/AlertsGroup.ts"
import { AuditGroup } from "./audit/AuditGroup.ts"
import { BatchGroup } from "./batch/BatchGroup.ts"
import { CommitteesGroup } from "./committees/CommitteesGroup.ts"
import { CompareGroup } from "./compare/CompareGroup.ts"
import { DashboardGroup } from "./dashboard/DashboardGroup.ts"
import { DecisionsGroup } from "./decisions/DecisionsGroup.ts"
import { ErasuresGroup } from "./erasures/ErasuresGroup.ts"
import { CrossRunEventsGroup } from "./events/CrossRunEventsGroup.ts"
import { EventsGroup } from "./events/EventsGroup.ts"
import { EvidenceGroup } from "./evidence/EvidenceGroup.ts"
import { ExportsGroup } from "./exports/ExportsGroup.ts"
import { HealthGroup } from "./health/HealthGroup.ts"
import { RuntimeGroup } from "./health/RuntimeGroup.ts"
import { IngestGroup } from "./ingest/IngestGroup.ts"
import { MarkReportsGroup } from "./marks/MarkReportsGroup.ts"
import { MarksGroup } from "./marks/MarksGroup.ts"
import { PoliciesGroup } from "./policies/PoliciesGroup.ts"
import { PricesGroup } from "./prices/PricesGroup.ts"
import { QueryGroup } from "./query/QueryGroup.ts"
import { RemovedGroup } from "./RemovedGroup.ts"
import { ManagementGroup } from "./runs/ManagementGroup.ts"
import { ProjectionGroup } from "./runs/ProjectionGroup.ts"
import { RunsGroup } from "./runs/RunsGroup.ts"
import { LedgerGroup, SealKeysGroup, SealsGroup } from "./seals/SealsGroup.ts"
import { AgUiGroup } from "./streams/AgUiGroup.ts"
import { ReplayGroup } from "./streams/ReplayGroup.ts"
import { StreamGroup } from "./streams/StreamGroup.ts"
import { TracesGroup } from "./traces/TracesGroup.ts"
import { ViewsGroup } from "./views/ViewsGroup.ts"
import { WebhooksGroup } from "./webhooks/WebhooksGroup.ts"

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
  .add(TracesGroup)
  .add(CompareGroup)
  .add(ProjectionGroup)
  .add(ExportsGroup)
  .add(EvidenceGroup)
  .add(QueryGroup)
  .add(PricesGroup)
  .add(MeGroup)
  .add(DecisionsGroup)
  .add(MarkReportsGroup)
  .add(CommitteesGroup)
  .add(ViewsGroup)
  .add(SealsGroup)
  .add(LedgerGroup)
  .add(ErasuresGroup)
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
