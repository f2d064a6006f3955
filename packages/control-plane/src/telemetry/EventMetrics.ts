import { isJsonObject, objectAt, outboundCategoryOf, textAt } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import type { CommittedEvent } from "../events/AppendRequest.ts"
import { endsRun, type LiveBatch, LiveEvents } from "../events/LiveEvents.ts"
import { Metrics } from "./Metrics.ts"

/** Counts what has been committed (http-details section 13.5): every published batch once, in the process that wrote it. */
export const layerEventMetrics = Layer.effectDiscard(
  Effect.gen(function* () {
    const live = yield* LiveEvents
    const metrics = yield* Metrics
    yield* live.listen((batch) => countBatch(metrics, batch))
  })
)

/** Events whose data is looked at; all others are not decoded. */
const counted: Readonly<Partial<Record<CommittedEvent["type"], (metrics: Metrics["Service"], data: Data) => void>>> = {
  "run.created": (metrics) => metrics.runTransition("queued"),
  "message.received": (metrics, data) => {
    const messageType = textAt(data, "messageType") ?? ""
    metrics.inboundMessage(textAt(data, "modeName") ?? "", messageType)
    metrics.outboundMessage(outboundCategoryOf(messageType), "accepted")
  },
  "message.send_failed": (metrics) => metrics.outboundMessage("message", "rejected"),
  "signal.emitted": (metrics, data) => {
    const payload = objectAt(data, "decodedPayload") ?? {}
    metrics.signal(textAt(data, "signalType") ?? textAt(payload, "signalType", "signal_type") ?? "")
  },
  "session.stream.opened": (metrics, data) => {
    const status = textAt(data, "status")
    if (status === "reconnecting") metrics.streamReconnect()
    if (status === "gap") metrics.streamResumeGap()
  }
}

type Data = Schema.JsonObject

const countBatch = (metrics: Metrics["Service"], batch: LiveBatch) => {
  for (const event of batch.events) {
    const count = counted[event.type]
    if (count !== undefined) count(metrics, objectAt(parse(event.json), "data") ?? {})
  }
  if (batch.changed) metrics.runTransition(batch.status)
  if (endsRun(batch)) countEnd(metrics, batch)
}

/** A run that was ended before it started has no duration. */
const countEnd = (metrics: Metrics["Service"], batch: LiveBatch) => {
  const run = objectAt(parse(batch.snapshot), "run") ?? {}
  const startedAt = textAt(run, "startedAt")
  const endedAt = textAt(run, "endedAt")
  if (startedAt === undefined || endedAt === undefined) return
  metrics.runEnded({
    status: batch.status,
    modeName: textAt(run, "modeName") ?? "",
    seconds: Math.max(0, Date.parse(endedAt) - Date.parse(startedAt)) / 1000
  })
}

// The log made these texts from objects: nothing else has to be looked at.
const parse = (json: string): Schema.JsonObject => {
  const value: Schema.Json = JSON.parse(json)
  return isJsonObject(value) ? value : {}
}
