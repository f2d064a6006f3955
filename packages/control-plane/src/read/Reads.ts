import * as Layer from "effect/Layer"
import { Dashboard } from "./dashboard/Dashboard.ts"
import { DashboardRepository } from "./dashboard/DashboardRepository.ts"
import { BacktestRuns } from "./decisions/BacktestRuns.ts"
import { Backtests } from "./decisions/Backtests.ts"
import { DecisionReader } from "./decisions/DecisionReader.ts"
import { Decisions } from "./decisions/Decisions.ts"
import { CrossRunEventBlocks } from "./events/CrossRunEventBlocks.ts"
import { CrossRunEvents } from "./events/CrossRunEvents.ts"
import { ExportRepository } from "./insights/ExportRepository.ts"
import { Insights } from "./insights/Insights.ts"
import { ProjectionRebuild } from "./insights/ProjectionRebuild.ts"
import { RunExports } from "./insights/RunExports.ts"
import { EventSearch } from "./query/EventSearch.ts"
import { Replay } from "./replay/Replay.ts"
import { ReplayStates } from "./replay/ReplayStates.ts"
import { Ledger } from "./seals/Ledger.ts"
import { Seals } from "./seals/Seals.ts"
import { Tombstones } from "./seals/Tombstones.ts"
import { RunStream } from "./stream/RunStream.ts"
import { StreamReads } from "./stream/StreamReads.ts"
import { StreamSlots } from "./stream/StreamSlots.ts"
import { StreamTickets } from "./stream/StreamTickets.ts"
import { LogStream } from "./tail/LogStream.ts"
import { LogTail } from "./tail/LogTail.ts"
import { Views } from "./views/Views.ts"

/** All that is read from the log. Wants the log, the audit log, the runtime and its health. */
export const layer = Layer.mergeAll(
  CrossRunEvents.layer,
  Dashboard.layer,
  Insights.layer,
  Ledger.layer,
  ProjectionRebuild.layer,
  Replay.layer,
  ReplayStates.layer,
  RunExports.layer,
  RunStream.layer,
  Seals.layer,
  StreamTickets.layer,
  Tombstones.layer,
  Views.layer,
  Backtests.layer.pipe(Layer.provide(BacktestRuns.layer)),
  LogStream.layer.pipe(Layer.provide(LogTail.layer))
).pipe(
  Layer.provideMerge(Layer.mergeAll(Decisions.layer, EventSearch.layer, StreamReads.layer)),
  Layer.provideMerge(StreamSlots.layer),
  Layer.provide([CrossRunEventBlocks.layer, DashboardRepository.layer, DecisionReader.layer, ExportRepository.layer])
)
