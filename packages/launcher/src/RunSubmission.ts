import { ControlPlaneClient, type CompileLaunchResult, type ControlPlaneRun } from "@runplane/api"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { HttpClient } from "effect/http"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { type ControlPlaneSettings, LauncherSettings } from "./LauncherSettings.ts"

type Descriptor = CompileLaunchResult["runDescriptor"]

/**
 * Hands run descriptors to the control plane (launch-details section 10.4). One attempt, no retry; whatever goes wrong is
 * logged and answered with none, because a control plane in trouble must not fail an example run.
 */
export class RunSubmission extends Context.Service<
  RunSubmission,
  {
    /** The accepted run; none without a control plane, or when it did not accept. */
    readonly submit: (descriptor: Descriptor) => Effect.Effect<Option.Option<ControlPlaneRun>>
  }
>()("runplane/launcher/RunSubmission") {
  static readonly layer = Layer.unwrap(
    Effect.map(LauncherSettings, ({ controlPlane }) =>
      controlPlane === undefined ? RunSubmission.layerOff : layerTo(controlPlane)
    )
  )

  /** No control plane is configured: nothing is submitted. */
  static readonly layerOff: Layer.Layer<RunSubmission, never, HttpClient.HttpClient> = Layer.succeed(
    RunSubmission,
    RunSubmission.of({ submit: () => Effect.succeedNone })
  )
}
