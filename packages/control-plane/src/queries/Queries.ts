import * as Layer from "effect/Layer"
import { Dashboard } from "./dashboard/Dashboard.ts"
import { DashboardRepository } from "./dashboard/DashboardRepository.ts"
import { BacktestRuns } from "./decisions/BacktestRuns.ts"
import { Backtests } from "./decisions/Backtests.ts"
import { DecisionReader } from "./decisions/DecisionReader.ts"
import { Decisions } from "./decisions/Decisions.ts"
import { DecisionTruths } from "./decisions/DecisionTruths.ts"
import { Stabilities } from "./decisions/Stabilities.ts"
import { CrossRunEventBlocks } from "./events/CrossRunEventBlocks.ts"
import { CrossRunEvents } from "./events/CrossRunEvents.ts"
import { ExportRepository } from "./insights/ExportRepository.ts"
import { Insights, ProjectionRebuild } from "./insights/Insights.ts"
import { ReceivedSpans } from "./insights/ReceivedSpans.ts"
import { RunExports } from "./insights/RunExports.ts"
import { AgentRecords } from "./marks/AgentRecords.ts"
import { MarkAgreementReport } from "./marks/MarkAgreementReport.ts"
import { MarkSearch } from "./marks/MarkSearch.ts"
import { ModelCosts } from "./pricing/ModelCosts.ts"
import { RecordedCalls } from "./pricing/RecordedCalls.ts"
import { EventSearch } from "./query/EventSearch.ts"
import { Ledger } from "./seals/Ledger.ts"
import { Seals, Tombstones } from "./seals/Seals.ts"
import { Views } from "./views/Views.ts"

/** The reading endpoints of the API. */
export const layer = Layer.mergeAll(
  CrossRunEvents.layer,
  Dashboard.layer,
  Insights.layer,
  Ledger.layer,
  MarkAgreementReport.layer,
  MarkSearch.layer,
  ModelCosts.layer,
  ProjectionRebuild.layer,
  ReceivedSpans.layer,
  RunExports.layer,
  Seals.layer,
  Tombstones.layer,
  RecordedCalls.layer,
  Views.layer,
  Layer.mergeAll(AgentRecords.layer, Backtests.layer, Stabilities.layer).pipe(
    Layer.provide([BacktestRuns.layer, DecisionTruths.layer])
  )
).pipe(
  Layer.provideMerge(Layer.mergeAll(Decisions.layer, EventSearch.layer)),
  Layer.provide([CrossRunEventBlocks.layer, DashboardRepository.layer, DecisionReader.layer, ExportRepository.layer])
)
