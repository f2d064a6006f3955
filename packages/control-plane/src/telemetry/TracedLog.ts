import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { EventLog } from "../events/EventLog.ts"
import { layerLog } from "../events/Log.ts"
import { RunSpans } from "./RunSpans.ts"
import { tracingSettings } from "./TracingSettings.ts"

/** The log with a note of every append. */
const noted = Layer.effect(
  EventLog,
  Effect.gen(function* () {
    const log = yield* EventLog
    const spans = yield* RunSpans
    return EventLog.of({
      append: Effect.fnUntraced(function* (request) {
        const start = yield* Clock.currentTimeNanos
        const appended = yield* log.append(request)
        const { events, runId } = appended
        const frames = request.frames ?? []
        if (events.length > 0 || frames.length > 0) {
          const end = yield* Clock.currentTimeNanos
          spans.persisted({ runId, frames, eventCount: events.length, start, end })
        }
        return appended
      })
    })
  })
)

/** The log, traced when `OTEL_ENABLED` says so; otherwise it is the log itself, with nothing on its path. */
export const layerTracedLog = Layer.unwrap(
  Effect.gen(function* () {
    const { enabled } = yield* tracingSettings
    return enabled ? noted.pipe(Layer.provide(RunSpans.layer), Layer.provideMerge(layerLog)) : layerLog
  })
)
