import * as Layer from "effect/Layer"
import { Drain } from "./Drain.ts"
import { Drops } from "./Drops.ts"
import { GrpcState } from "./GrpcDoor.ts"
import { Inbox } from "./Inbox.ts"
import { IngestSettings } from "./IngestSettings.ts"
import { JoinTokens } from "./JoinTokens.ts"
import { Reception } from "./Reception.ts"
import { Stories } from "./Stories.ts"
import { TraceRuns } from "./TraceRuns.ts"

/** Receives OpenTelemetry and drains it into runs. Requires the log, the placement and the prices. */
export const layer = Reception.layer.pipe(
  Layer.provide(Drain.layer),
  Layer.provide([Stories.layer, TraceRuns.layer]),
  Layer.provide([Drops.layer, Inbox.layer]),
  Layer.provideMerge(JoinTokens.layer),
  Layer.provideMerge(GrpcState.layer),
  Layer.provideMerge(IngestSettings.layer)
)
