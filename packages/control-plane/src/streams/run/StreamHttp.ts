import { ControlPlaneApi, CurrentActor, runNotFound } from "@runplane/api"
import { ControlPlaneSettings, readSettings } from "@runplane/server"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { HttpApiBuilder } from "effect/http-api"
import { RunRepository } from "../../event-log/runs/RunRepository.ts"
import { AuditTrail } from "../../platform/audit/AuditTrail.ts"
import { currentCaller } from "../../platform/http/CurrentCaller.ts"
import { cutOnFailure } from "../../platform/http/JsonAnswer.ts"
import { orUnavailable } from "../../platform/http/OutageAnswers.ts"
import { RunStream } from "./RunStream.ts"
import { currentClient } from "./StreamClient.ts"
import { StreamReads } from "./StreamReads.ts"
import { StreamSlots } from "./StreamSlots.ts"
import { StreamTickets, TICKET_MS } from "./StreamTickets.ts"

/** What makes an answer an event stream that nothing between here and the client holds back. */
export const sse = {
  contentType: "text/event-stream",
  headers: {
    "cache-control": "private, no-cache, no-store, must-revalidate, max-age=0, no-transform",
    connection: "keep-alive",
    "x-accel-buffering": "no"
  }
} as const

/** `GET /runs/:id/stream` (docs/reference/http.md#stream), and its tickets (docs/reference/http.md#tickets). */
export const StreamHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "stream",
  Effect.fn(function* (handlers) {
    const runs = yield* RunRepository
    const streams = yield* RunStream
    const { defaultHeartbeatMs, snapshotIntervalMs } = yield* readSettings({
      defaultHeartbeatMs: ControlPlaneSettings.STREAM_SSE_HEARTBEAT_MS,
      snapshotIntervalMs: ControlPlaneSettings.STREAM_SNAPSHOT_INTERVAL_MS
    })

    const audit = yield* AuditTrail
    const tickets = yield* StreamTickets
    const slots = yield* StreamSlots
    const { resolve } = yield* StreamReads

    return handlers.handleAll({
      ticket: Effect.fnUntraced(function* ({ params }) {
        const runId = yield* runs.resolve(params.id)
        if (runId === undefined) return yield* runNotFound(params.id)
        const issued = yield* tickets.issue(runId, yield* CurrentActor)
        const expiresAt = new Date(issued.expiresAt).toISOString()
        yield* audit.recordDone({
          caller: yield* currentCaller,
          action: "stream_ticket.create",
          resource: "run",
          resourceId: runId,
          details: { expiresAt },
          at: new Date(issued.expiresAt - TICKET_MS).toISOString()
        })
        return { ticket: issued.ticket, runId, expiresAt, streamUrl: `/runs/${runId}/stream?ticket=${issued.ticket}` }
      }, orUnavailable),
      run: Effect.fnUntraced(function* ({ headers, params, query }) {
        // A stream that is refused costs no read.
        const refusal = yield* slots.take
        if (refusal !== undefined) return refusal
        const runId = yield* resolve(params.id)
        if (runId === undefined) return yield* runNotFound(params.id)
        const client = yield* currentClient
        const options = {
          afterSeq: query.afterSeq ?? seqOf(headers["last-event-id"]),
          includeSnapshot: query.includeSnapshot,
          snapshots: query.snapshots ?? ("all" as const),
          snapshotIntervalMs,
          heartbeatMs: query.heartbeatMs ?? defaultHeartbeatMs
        }
        // A client that sees the headers knows that it will miss nothing of what happens from then on.
        const frames = yield* Effect.catchTag(streams.open(runId, options, client), "RunGone", () =>
          runNotFound(params.id)
        )
        return HttpServerResponse.stream(cutOnFailure("a stream")(frames), sse)
      }, orUnavailable)
    })
  })
)

/** The seq of a Last-Event-ID; text that is not a seq is ignored. */
export const seqOf = (lastEventId: string | undefined): number | undefined => {
  const text = lastEventId?.trim() ?? ""
  const seq = Number(text)
  return /^\d+$/.test(text) && Number.isSafeInteger(seq) ? seq : undefined
}
