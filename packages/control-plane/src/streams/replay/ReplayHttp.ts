import { ControlPlaneApi, runNotFound } from "@runplane/api"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { HttpApiBuilder } from "effect/http-api"
import * as Stream from "effect/Stream"
import { RunRepository } from "../../event-log/runs/RunRepository.ts"
import { cutOnFailure, jsonText } from "../../platform/http/JsonAnswer.ts"
import { orUnavailable } from "../../platform/http/OutageAnswers.ts"
import { currentClient } from "../run/StreamClient.ts"
import { sse } from "../run/StreamHttp.ts"
import { StreamReads } from "../run/StreamReads.ts"
import { StreamSlots } from "../run/StreamSlots.ts"
import { describeReplay, Replay } from "./Replay.ts"
import { ReplayStates } from "./ReplayStates.ts"

/** The `replay` group (docs/reference/http.md#replay). */
export const ReplayHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "replay",
  Effect.fn(function* (handlers) {
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
        const refusal = yield* slots.take
        if (refusal !== undefined) return refusal
        const runId = (yield* reads.resolve(params.id)) ?? (yield* runNotFound(params.id))
        const client = yield* currentClient
        const frames = Stream.onStart(replay.open(runId, query, client), client.greet)
        return HttpServerResponse.stream(cutOnFailure("a replay")(frames), sse)
      }, orUnavailable),
      state: Effect.fnUntraced(function* ({ params, query }) {
        const state = yield* states.stateAt(yield* resolve(params.id), query.seq)
        return state === undefined ? yield* runNotFound(params.id) : jsonText(state)
      }, orUnavailable)
    })
  })
)
