import type { CompileLaunchResult, ControlPlaneRun } from "@runplane/api"
import { wholeStart } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { HttpClientResponse } from "effect/http"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { oneLine } from "../common/OneLine.ts"
import { type ControlPlaneSettings, LauncherSettings } from "../LauncherSettings.ts"
import { makePlaneClient } from "./PlaneClient.ts"

type Descriptor = CompileLaunchResult["runDescriptor"]

/** Longest part of a refusal that is logged, characters. */
const MAX_REFUSAL_LENGTH = 1_000

/**
 * Hands run descriptors to the control plane (docs/internals/launch.md#submission). One attempt, no retry; whatever
 * goes wrong is logged and answered with none, because a control plane in trouble must not fail an example run.
 */
export class RunSubmission extends Context.Service<
  RunSubmission,
  {
    /** The accepted run; none without a control plane, or when it did not accept. */
    readonly submit: (descriptor: Descriptor) => Effect.Effect<Option.Option<ControlPlaneRun>>
  }
>()("runplane/launcher/RunSubmission") {
  /** To the control plane of PROTO_CONTROL_PLANE_URL, or nowhere when there is none. */
  static readonly layer = Layer.unwrap(
    Effect.map(LauncherSettings, ({ controlPlane }) =>
      controlPlane === undefined ? nowhere : toControlPlane(controlPlane)
    )
  )
}

const nowhere = Layer.succeed(RunSubmission, RunSubmission.of({ submit: () => Effect.succeedNone }))

/**
 * Not by the typed client, which takes nothing but 202 and a whole answer: any 2xx that names our session accepts.
 */
const toControlPlane = (settings: ControlPlaneSettings) =>
  Layer.effect(
    RunSubmission,
    Effect.gen(function* () {
      const plane = yield* makePlaneClient(settings)
      const submit = Effect.fn("RunSubmission.submit")(function* (descriptor: Descriptor) {
        const { sessionId } = descriptor.session
        return yield* plane.post("/runs", descriptor).pipe(
          Effect.flatMap((response) => readAnswer(response, sessionId)),
          Effect.timeout(settings.timeoutMs),
          Effect.asSome,
          Effect.catch((failure) =>
            Effect.as(
              Effect.logWarning(`the control plane did not accept run ${sessionId}: ${oneLine(failure)}`),
              Option.none()
            )
          )
        )
      })
      return RunSubmission.of({ submit })
    })
  )

const Accepted = Schema.Struct({
  runId: Schema.NonEmptyString,
  sessionId: Schema.NonEmptyString,
  status: Schema.NonEmptyString,
  traceId: Schema.optionalKey(Schema.Unknown)
})
const decodeAccepted = Schema.decodeUnknownEffect(Accepted)

/** The run of the session that was submitted, or why the answer does not tell of one. */
const readAnswer = Effect.fnUntraced(function* (
  response: HttpClientResponse.HttpClientResponse,
  sessionId: string | undefined
) {
  if (response.status < 200 || response.status > 299) {
    const said = wholeStart(yield* response.text, MAX_REFUSAL_LENGTH)
    return yield* new NotAccepted({ message: `it answered ${response.status}: ${said}` })
  }
  const { traceId, ...run } = yield* Effect.flatMap(response.json, decodeAccepted).pipe(
    Effect.mapError(() => new NotAccepted({ message: `its answer ${response.status} does not describe a run` }))
  )
  if (run.sessionId !== sessionId) {
    return yield* new NotAccepted({ message: `it answered with session ${run.sessionId}` })
  }
  const accepted: ControlPlaneRun = typeof traceId === "string" && traceId !== "" ? { ...run, traceId } : run
  return accepted
})

class NotAccepted extends Data.TaggedError("NotAccepted")<{ readonly message: string }> {}
