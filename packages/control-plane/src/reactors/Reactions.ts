import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Reactors } from "../event-log/append/Reactors.ts"
import { RunTraces } from "../event-log/runs/RunTraces.ts"
import { countAppends } from "./metrics/EventMetrics.ts"
import { Metrics } from "./metrics/Metrics.ts"
import { makeRunLog } from "./RunLog.ts"
import { makeEventTallies } from "./tallies/EventTally.ts"
import { makeLateChanges, RunTallies } from "./tallies/RunTallies.ts"
import { makeRunSpans } from "./traces/RunSpans.ts"
import * as Delivery from "./webhooks/Delivery.ts"
import { WebhookBacklog } from "./webhooks/WebhookBacklog.ts"
import { WebhookDispatcher } from "./webhooks/WebhookDispatcher.ts"
import { makeWebhookOutbox } from "./webhooks/WebhookOutbox.ts"

const reactors = Layer.effect(
  Reactors,
  Effect.gen(function* () {
    const { wake } = yield* WebhookDispatcher
    return [
      yield* makeEventTallies,
      yield* makeLateChanges,
      yield* makeWebhookOutbox(wake),
      countAppends(yield* Metrics),
      yield* makeRunLog,
      yield* makeRunSpans
    ]
  })
)

/** What follows from a commit. Offers the reactors to the log, and webhooks and metrics to those who show them. */
export const layer = reactors.pipe(
  Layer.provide(RunTraces.layer),
  Layer.provideMerge(Layer.mergeAll(Delivery.layer, RunTallies.layer)),
  Layer.provideMerge(Layer.merge(Metrics.layer, WebhookBacklog.layer))
)
