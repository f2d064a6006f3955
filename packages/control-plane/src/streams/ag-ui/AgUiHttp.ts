import { ControlPlaneApi, runNotFound } from "@runplane/api"
import type { AgUiIds } from "@runplane/domain"
import { ControlPlaneSettings, readSetting, sseResponse } from "@runplane/server"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import { orUnavailable } from "../../platform/http/OutageAnswers.ts"
import { currentConnection, lastEventSeq } from "../SseConnection.ts"
import { StreamReads } from "../StreamReads.ts"
import { StreamSlots } from "../StreamSlots.ts"
import { AgUiStream } from "./AgUiStream.ts"

interface StreamQuery {
  readonly heartbeatMs?: number
  readonly interrupts: boolean
  readonly since?: number
}

/** `GET` and `POST /runs/:id/ag-ui` (docs/reference/ag-ui.md). */
export const AgUiHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "agUi",
  Effect.fnUntraced(function* (handlers) {
    const streams = yield* AgUiStream
    const slots = yield* StreamSlots
    const { resolve } = yield* StreamReads
    const defaultHeartbeatMs = yield* readSetting(ControlPlaneSettings.STREAM_SSE_HEARTBEAT_MS)

    const stream = Effect.fnUntraced(function* (
      reference: string,
      { heartbeatMs = defaultHeartbeatMs, interrupts, since = 0 }: StreamQuery,
      chosen: Partial<AgUiIds>
    ) {
      const rejection = yield* slots.take
      if (rejection !== undefined) return rejection
      const runId = yield* resolve(reference)
      if (runId === undefined) return yield* runNotFound(reference)
      const options = { threadId: runId, runId, ...chosen, since, heartbeatMs, interrupts }
      const frames = yield* Effect.catchTag(streams.open(runId, options, yield* currentConnection), "RunGone", () =>
        runNotFound(reference)
      )
      return sseResponse(frames, "an AG-UI stream")
    })

    return handlers.handleAll({
      follow: ({ headers, params, query: { since = lastEventSeq(headers["last-event-id"]), ...query } }) =>
        orUnavailable(stream(params.id, { ...query, ...(since !== undefined && { since }) }, {})),
      run: ({ params, payload, query }) => orUnavailable(stream(params.id, query, payload))
    })
  })
)
