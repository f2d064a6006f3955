import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import { LiveEvents } from "../../event-log/subscribe/LiveEvents.ts"
import { Placement } from "../../observe/placement/Placement.ts"
import { Ids } from "../../platform/Ids.ts"
import { forever } from "../../platform/loop/Forever.ts"
import { Metrics } from "../../platform/metrics/Metrics.ts"
import { AlertCommands } from "./AlertCommands.ts"
import { AlertEvaluator } from "./AlertEvaluator.ts"
import { AlertNotices } from "./AlertNotices.ts"
import { AlertRules } from "./AlertRules.ts"
import { Alerts } from "./Alerts.ts"
import { AlertTests } from "./AlertTests.ts"
import { makeOpenAlerts } from "./OpenAlerts.ts"

/** The least time between two steps at the end of the log, so that commits share a step. Milliseconds. */
const PAUSE_MS = 250
/** A step is made at least this often, for deadlines and lost notices. Milliseconds. */
const IDLE_MS = 1_000

/** One process at a time evaluates the rules, and executes the commands of firings. */
const evaluateForever = Effect.gen(function* () {
  const live = yield* LiveEvents
  const evaluator = yield* AlertEvaluator
  const commands = yield* AlertCommands
  const metrics = yield* Metrics
  const countOpen = yield* makeOpenAlerts
  const notified = yield* Queue.sliding<void>(1)
  yield* live.listen(() => {
    Queue.offerUnsafe(notified, undefined)
  })
  yield* live.listenElsewhere(() => {
    Queue.offerUnsafe(notified, undefined)
  })

  const round = Effect.gen(function* () {
    const stepped = yield* evaluator.step
    metrics.alertLag((stepped?.lagMs ?? 0) / 1_000)
    if (stepped?.isEnd === false) return { pauseMs: 0 }
    metrics.alertsOpen(yield* countOpen)
    yield* Effect.sleep(PAUSE_MS)
    return { pauseMs: IDLE_MS - PAUSE_MS }
  })
  const evaluating = forever("alert-rules", round, { wake: Queue.take(notified) })
  const executing = forever("alert-commands", Effect.asVoid(commands.execute), { every: IDLE_MS })
  yield* Effect.all([evaluating, executing], { concurrency: 2, discard: true }).pipe(
    Effect.ensuring(Effect.sync(metrics.alertsLeft))
  )
}).pipe(Effect.scoped, Effect.withTracerEnabled(false))

/** Alerts over the log. Requires the commands of runs, the marks, the webhooks and the placement. */
export const layer = Layer.effectDiscard(
  Placement.use((placement) => placement.singleton("alerts", evaluateForever))
).pipe(
  Layer.provide([AlertEvaluator.layer, AlertCommands.layer]),
  Layer.provideMerge(Layer.mergeAll(Alerts.layer, AlertRules.layer, AlertTests.layer)),
  Layer.provide(AlertNotices.layer),
  Layer.provide(Ids.layer)
)
