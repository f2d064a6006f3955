import * as Layer from "effect/Layer"
import { Drops } from "./Drops.ts"
import { GrpcState } from "./GrpcReceiver.ts"
import { IngestSettings } from "./IngestSettings.ts"
import { JoinTokens } from "./JoinTokens.ts"
import { Receiver } from "./Receiver.ts"
import { SpanInbox } from "./SpanInbox.ts"
import { SpanProcessor } from "./SpanProcessor.ts"
import { TraceFolds } from "./TraceFolds.ts"
import { TraceRuns } from "./TraceRuns.ts"

/** Receives OpenTelemetry and makes runs of it. Requires the log, the placement and the prices. */
export const layer = Receiver.layer.pipe(
  Layer.provide(SpanProcessor.layer),
  Layer.provide([TraceFolds.layer, TraceRuns.layer]),
  Layer.provide([Drops.layer, SpanInbox.layer]),
  Layer.provideMerge(JoinTokens.layer),
  Layer.provideMerge(GrpcState.layer),
  Layer.provideMerge(IngestSettings.layer)
)
