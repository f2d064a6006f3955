import { ControlPlaneApi, runNotFound } from "@runplane/api"
import { sseResponse } from "@runplane/server"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import { RunRepository } from "../../event-log/runs/RunRepository.ts"
import { jsonText } from "../../platform/http/JsonAnswer.ts"
import { orUnavailable } from "../../platform/http/OutageAnswers.ts"
import { currentConnection } from "../SseConnection.ts"
import { StreamReads } from "../StreamReads.ts"
import { StreamSlots } from "../StreamSlots.ts"
import { describeReplay, Replay } from "./Replay.ts"
import { ReplayStates } from "./ReplayStates.ts"

/** The `replay` group (docs/reference/streams.md#replay). */
export const ReplayHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "replay",
  Effect.fnUntraced(function* (handlers) {
    const replay = yield* Replay
    const runs = yield* RunRepository
    const states = yield* ReplayStates
    const slots = yield* StreamSlots
    const reads = yield* StreamReads

    const resolve = Effect.fnUntraced(function* (reference: string) {
      return (yield* runs.resolve(reference)) ?? (yield* runNotFound(reference))
    })

    return handlers.handleAll({
      describe: ({ params, payload }) =>
        orUnavailable(Effect.map(resolve(params.id), (runId) => describeReplay(runId, payload))),
      stream: Effect.fnUntraced(function* ({ params, query }) {
        const rejection = yield* slots.take
        if (rejection !== undefined) return rejection
        const runId = (yield* reads.resolve(params.id)) ?? (yield* runNotFound(params.id))
        return sseResponse(replay.open(runId, query, yield* currentConnection), "a replay")
      }, orUnavailable),
      state: Effect.fnUntraced(function* ({ params, query }) {
        const state = yield* states.stateAt(yield* resolve(params.id), query.seq)
        return state === undefined ? yield* runNotFound(params.id) : jsonText(state)
      }, orUnavailable)
    })
  })
)
