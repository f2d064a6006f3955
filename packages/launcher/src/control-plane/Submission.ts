import type { CompileLaunchResult, ControlPlaneRun } from "@runplane/api"
import { wholeStart } from "@runplane/domain"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { HttpClientResponse } from "effect/http"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { launchUnaffordable } from "../common/LaunchErrors.ts"

/** Longest part of an error answer that is logged, characters. */
const MAX_LOGGED_LENGTH = 1_000

export type Descriptor = CompileLaunchResult["runDescriptor"]

/** Why the control plane gave no usable answer; one line. Another attempt may get one. */
export class NoAnswer extends Data.TaggedError("NoAnswer")<{ readonly message: string }> {}

/** The control plane refuses the descriptor: the same one is refused again. */
export class SubmissionRefused extends Data.TaggedError("SubmissionRefused")<{
  readonly message: string
  readonly isSessionTaken: boolean
}> {}

/** Answers that concern the descriptor. Others concern the key, the address, or the state of the service. */
const REFUSALS: ReadonlySet<number> = new Set([400, 409, 413, 415, 422])

const Accepted = Schema.Struct({
  runId: Schema.NonEmptyString,
  sessionId: Schema.NonEmptyString,
  status: Schema.NonEmptyString,
  traceId: Schema.optionalKey(Schema.Unknown)
})
const decodeAccepted = Schema.decodeUnknownEffect(Accepted)

const decodeError = Schema.decodeUnknownOption(
  Schema.fromJsonString(
    Schema.Struct({
      errorCode: Schema.String,
      message: Schema.String,
      metadata: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json))
    })
  )
)

/** The run of the submitted session, or why the answer has none. */
export const acceptedRun = Effect.fnUntraced(function* (
  response: HttpClientResponse.HttpClientResponse,
  sessionId: string | undefined
) {
  const { status } = response
  if (status < 200 || status > 299) {
    const text = yield* response.text
    const error = Option.getOrUndefined(decodeError(text))
    if (status === 409 && error?.errorCode === "BUDGET_EXHAUSTED")
      return yield* launchUnaffordable(error.message, error.metadata)
    const message = `it answered ${status}: ${wholeStart(text, MAX_LOGGED_LENGTH)}`
    return yield* REFUSALS.has(status)
      ? new SubmissionRefused({ message, isSessionTaken: error?.errorCode === "SESSION_ALREADY_EXISTS" })
      : new NoAnswer({ message })
  }
  const refused = (message: string) => new SubmissionRefused({ message, isSessionTaken: false })
  const { traceId, ...run } = yield* Effect.flatMap(response.json, decodeAccepted).pipe(
    Effect.mapError(() => refused(`its answer ${status} does not describe a run`))
  )
  if (run.sessionId !== sessionId) return yield* refused(`it answered with session ${run.sessionId}`)
  const accepted: ControlPlaneRun = typeof traceId === "string" && traceId !== "" ? { ...run, traceId } : run
  return accepted
})
