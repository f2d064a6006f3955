import * as Layer from "effect/Layer"
import { EventLog } from "./EventLog.ts"
import { EventRepository } from "./EventRepository.ts"
import { Ids } from "./Ids.ts"
import { LiveEvents } from "./LiveEvents.ts"
import { ProjectionCache } from "./ProjectionCache.ts"

/** The log with its readers: what the capabilities share. Wants the database and the normaliser from its surroundings. */
export const layerLog = EventLog.layerNoDeps.pipe(
  Layer.provide(ProjectionCache.layer),
  Layer.provideMerge(Layer.mergeAll(EventRepository.layer, LiveEvents.layer, Ids.layer))
)
