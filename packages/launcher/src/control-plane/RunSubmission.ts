import { type CompileLaunchResult, ControlPlaneClient, type ControlPlaneRun } from "@runplane/api"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { oneLine } from "../common/OneLine.ts"
import { type ControlPlaneSettings, LauncherSettings } from "../LauncherSettings.ts"

type Descriptor = CompileLaunchResult["runDescriptor"]

/**
 * Hands run descriptors to the control plane. One attempt, no retry; whatever goes wrong is logged and answered with
 * none, because a control plane in trouble must not fail an example run.
 */
export class RunSubmission extends Context.Service<
  RunSubmission,
  {
    /** The accepted run; none without a control plane, or when it did not accept. */
    readonly submit: (descriptor: Descriptor) => Effect.Effect<Option.Option<ControlPlaneRun>>
  }
>()("runplane/launcher/RunSubmission") {
  /** Through the typed client of the control plane's contract when PROTO_CONTROL_PLANE_URL is set, else nowhere. */
  static readonly layer = Layer.unwrap(
    Effect.map(LauncherSettings, ({ controlPlane }) =>
      controlPlane === undefined ? nowhere : toControlPlane(controlPlane)
    )
  )
}

const nowhere = Layer.succeed(RunSubmission, RunSubmission.of({ submit: () => Effect.succeedNone }))

const toControlPlane = ({ url, timeoutMs, apiKey }: ControlPlaneSettings) =>
  Layer.effect(
    RunSubmission,
    Effect.gen(function* () {
      const client = yield* ControlPlaneClient
      const submit = Effect.fn("RunSubmission.submit")(function* (descriptor: Descriptor) {
        return yield* client.api.runs.create({ payload: descriptor }).pipe(
          Effect.timeout(timeoutMs),
          Effect.flatMap((accepted) => Effect.fromResult(checkAccepted(accepted, descriptor))),
          Effect.asSome,
          Effect.catch((failure) =>
            Effect.as(
              Effect.logWarning(
                `the control plane did not accept run ${descriptor.session.sessionId}: ${oneLine(failure)}`
              ),
              Option.none()
            )
          )
        )
      })
      return RunSubmission.of({ submit })
    })
  ).pipe(Layer.provide(ControlPlaneClient.layer({ baseUrl: url, ...(apiKey === undefined ? {} : { apiKey }) })))

/** Whether the answer is a run of the session that was submitted. */
const checkAccepted = (
  accepted: ControlPlaneRun,
  descriptor: Descriptor
): Result.Result<ControlPlaneRun, NotOurRun> => {
  if (accepted.runId === "" || accepted.status === "") {
    return Result.fail(new NotOurRun({ message: "it answered with a run without an id or a status" }))
  }
  return accepted.sessionId === descriptor.session.sessionId
    ? Result.succeed(accepted)
    : Result.fail(new NotOurRun({ message: `it answered with session ${accepted.sessionId}` }))
}

class NotOurRun extends Data.TaggedError("NotOurRun")<{ readonly message: string }> {}
