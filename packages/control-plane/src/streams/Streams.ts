import * as Layer from "effect/Layer"
import { AgUiStream } from "./ag-ui/AgUiStream.ts"
import { LogStream } from "./log/LogStream.ts"
import { LogTail } from "./log/LogTail.ts"
import { Replay } from "./replay/Replay.ts"
import { ReplayStates } from "./replay/ReplayStates.ts"
import { RunStream } from "./run/RunStream.ts"
import { StreamTickets } from "./run/StreamTickets.ts"
import { StreamReads } from "./StreamReads.ts"
import { StreamSlots } from "./StreamSlots.ts"

/** The event streams of a run, also as AG-UI, of the log and of a replay. */
export const layer = AgUiStream.layer.pipe(
  Layer.provideMerge(
    Layer.mergeAll(
      Replay.layer,
      ReplayStates.layer,
      RunStream.layer,
      StreamSlots.layer,
      StreamTickets.layer,
      LogStream.layer.pipe(Layer.provide(LogTail.layer))
    )
  ),
  Layer.provideMerge(StreamReads.layer)
)
