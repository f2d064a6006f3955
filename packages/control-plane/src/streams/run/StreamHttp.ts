import { ControlPlaneApi, CurrentActor, runNotFound } from "@runplane/api"
import { isoTime } from "@runplane/domain"
import { ControlPlaneSettings, readSettings, sseResponse } from "@runplane/server"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import { RunRepository } from "../../event-log/runs/RunRepository.ts"
import { AuditTrail } from "../../platform/audit/AuditTrail.ts"
import { currentCaller } from "../../platform/http/CurrentCaller.ts"
import { orUnavailable } from "../../platform/http/OutageAnswers.ts"
import { currentConnection, lastEventSeq } from "../SseConnection.ts"
import { StreamReads } from "../StreamReads.ts"
import { StreamSlots } from "../StreamSlots.ts"
import { RunStream } from "./RunStream.ts"
import { StreamTickets, TICKET_MS } from "./StreamTickets.ts"

/** `GET /runs/:id/stream` (docs/reference/streams.md#stream), and its tickets (docs/reference/http.md#tickets). */
export const StreamHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "stream",
  Effect.fnUntraced(function* (handlers) {
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
        const expiresAt = isoTime(issued.expiresAt)
        yield* audit.recordDone({
          caller: yield* currentCaller,
          action: "stream_ticket.create",
          resource: "run",
          resourceId: runId,
          details: { expiresAt },
          at: isoTime(issued.expiresAt - TICKET_MS)
        })
        return { ticket: issued.ticket, runId, expiresAt, streamUrl: `/runs/${runId}/stream?ticket=${issued.ticket}` }
      }, orUnavailable),
      run: Effect.fnUntraced(function* ({ headers, params, query }) {
        // A rejected stream reads nothing.
        const rejection = yield* slots.take
        if (rejection !== undefined) return rejection
        const runId = yield* resolve(params.id)
        if (runId === undefined) return yield* runNotFound(params.id)
        const connection = yield* currentConnection
        const options = {
          afterSeq: query.afterSeq ?? lastEventSeq(headers["last-event-id"]),
          includeSnapshot: query.includeSnapshot,
          snapshots: query.snapshots ?? ("all" as const),
          snapshotIntervalMs,
          heartbeatMs: query.heartbeatMs ?? defaultHeartbeatMs
        }
        // A client that has received the headers misses no later event.
        const frames = yield* Effect.catchTag(streams.open(runId, options, connection), "RunGone", () =>
          runNotFound(params.id)
        )
        return sseResponse(frames, "a stream")
      }, orUnavailable)
    })
  })
)
