import { isTerminal } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type Reactor, Reactors, type WrittenAppend } from "../event-log/append/Reactors.ts"
import { RunTraces } from "../event-log/runs/RunTraces.ts"
import { Ids } from "../platform/Ids.ts"
import { Metrics } from "../platform/metrics/Metrics.ts"
import { countAppends } from "./metrics/EventMetrics.ts"
import { makeEventTallies } from "./tallies/EventTally.ts"
import { makeLateChanges, RunTallies } from "./tallies/RunTallies.ts"
import { makeRunSpans } from "./traces/RunSpans.ts"
import { DeliveryQueue } from "./webhooks/DeliveryQueue.ts"
import { WebhookBacklog } from "./webhooks/WebhookBacklog.ts"
import { WebhookDispatcher } from "./webhooks/WebhookDispatcher.ts"
import { makeWebhookOutbox } from "./webhooks/WebhookOutbox.ts"
import { WebhookRepository } from "./webhooks/WebhookRepository.ts"
import { WebhookSettings } from "./webhooks/WebhookSettings.ts"
import { Webhooks } from "./webhooks/Webhooks.ts"
import { WebhookTransport } from "./webhooks/WebhookTransport.ts"

/** Logs a line for each run that starts or ends, once, in the process that appended the event. */
const makeRunLog = Effect.gen(function* () {
  const log = Effect.runForkWith(yield* Effect.context())
  const logChange = ({ change, events, runId, state: { run } }: WrittenAppend) => {
    const about = { runId, sessionId: run.runtimeSessionId, traceId: run.traceId }
    if (events.some(({ type }) => type === "run.started")) {
      log(Effect.annotateLogs(Effect.logInfo("run started"), { ...about, mode: run.modeName }))
    }
    if (change === undefined || !isTerminal(change.to)) return
    const began = run.startedAt === undefined ? undefined : Date.parse(run.startedAt)
    const durationMs = began === undefined ? undefined : Math.max(0, Date.parse(change.at) - began)
    log(
      Effect.annotateLogs(Effect.logInfo(`run ended: ${change.to}`), {
        ...about,
        status: change.to,
        ...(durationMs !== undefined && { durationMs }),
        ...(change.error !== undefined && { error: change.error })
      })
    )
  }
  return {
    afterCommit: (appends) => {
      for (const append of appends) logChange(append)
    }
  } satisfies Reactor
})

/** The webhooks and their worker. Needs the database, the audit log and the metrics. */
const webhooks = Webhooks.layer.pipe(
  Layer.provideMerge(WebhookDispatcher.layer),
  Layer.provide([Ids.layer, WebhookTransport.layer, DeliveryQueue.layer, WebhookRepository.layer]),
  Layer.provide(WebhookSettings.layer)
)

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

/** What follows from a commit. Offers the reactors to the log, and the webhooks to the handlers. */
export const layer = reactors.pipe(
  Layer.provide(RunTraces.layer),
  Layer.provideMerge(Layer.mergeAll(webhooks, RunTallies.layer)),
  Layer.provideMerge(WebhookBacklog.layer)
)
