import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { consume } from "../../event-log/consume/LogConsumer.ts"
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

/** How often due commands are executed. Milliseconds. */
const COMMANDS_MS = 1_000

/** One process at a time evaluates the rules, and executes the commands of firings. */
const evaluateForever = Effect.gen(function* () {
  const evaluator = yield* AlertEvaluator
  const commands = yield* AlertCommands
  const metrics = yield* Metrics
  const countOpen = yield* makeOpenAlerts

  const step = Effect.map(evaluator.step, (done) => ({ isEnd: done?.isEnd !== false, lag: done?.lagMs ?? 0 }))
  const evaluation = consume({
    name: "alert-rules",
    step,
    report: (lagMs = 0) => metrics.alertLag(lagMs / 1_000),
    isWokenByCommits: true,
    atEnd: Effect.map(countOpen, metrics.alertsOpen)
  })
  const execution = forever("alert-commands", Effect.asVoid(commands.execute), { every: COMMANDS_MS })
  yield* Effect.all([evaluation, execution], { concurrency: 2, discard: true }).pipe(
    Effect.ensuring(Effect.sync(metrics.alertsLeft))
  )
}).pipe(Effect.withTracerEnabled(false))

/** Alerts over the log. Requires the commands of runs, the marks, the webhooks and the placement. */
export const layer = Layer.effectDiscard(
  Placement.use((placement) => placement.singleton("alerts", evaluateForever))
).pipe(
  Layer.provide([AlertEvaluator.layer, AlertCommands.layer]),
  Layer.provideMerge(Layer.mergeAll(Alerts.layer, AlertRules.layer, AlertTests.layer)),
  Layer.provide(AlertNotices.layer),
  Layer.provide(Ids.layer)
)
