import * as Layer from "effect/Layer"
import { RunComparisons } from "./compare/RunComparison.ts"
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
import { ExportRepository } from "./exports/ExportRepository.ts"
import { RunExports } from "./exports/RunExports.ts"
import { AgentRecords } from "./marks/AgentRecords.ts"
import { MarkAgreementReport } from "./marks/MarkAgreementReport.ts"
import { MarkSearch } from "./marks/MarkSearch.ts"
import { ModelCosts } from "./prices/ModelCosts.ts"
import { RecordedCalls } from "./prices/RecordedCalls.ts"
import { EventSearch } from "./query/EventSearch.ts"
import { RunList } from "./runs/RunList.ts"
import { Ledger } from "./seals/Ledger.ts"
import { Seals, Tombstones } from "./seals/Seals.ts"
import { ReceivedSpans } from "./traces/ReceivedSpans.ts"
import { TraceReports } from "./traces/TraceReports.ts"
import { Views } from "./views/Views.ts"

/** The reading endpoints of the API. */
export const layer = Layer.mergeAll(
  CrossRunEvents.layer,
  Dashboard.layer,
  Ledger.layer,
  MarkAgreementReport.layer,
  MarkSearch.layer,
  ModelCosts.layer,
  ReceivedSpans.layer,
  RunComparisons.layer,
  RunExports.layer,
  RunList.layer,
  Seals.layer,
  Tombstones.layer,
  TraceReports.layer,
  RecordedCalls.layer,
  Views.layer,
  Layer.mergeAll(AgentRecords.layer, Backtests.layer, Stabilities.layer).pipe(
    Layer.provide([BacktestRuns.layer, DecisionTruths.layer])
  )
).pipe(
  Layer.provideMerge(Layer.mergeAll(Decisions.layer, EventSearch.layer)),
  Layer.provide([CrossRunEventBlocks.layer, DashboardRepository.layer, DecisionReader.layer, ExportRepository.layer])
)
