import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import { oneLine } from "../common/OneLine.ts"
import { type ControlPlaneSettings, LauncherSettings } from "../LauncherSettings.ts"
import { makePlaneClient } from "./PlaneClient.ts"

/** Longest reason that the control plane takes, characters. */
const MAX_REASON_LENGTH = 4_000

/**
 * What the control plane makes of the word that nobody will open a session: the run has failed with the reason, or its
 * session is there or was, or nothing is known of it.
 */
export type Abandonment = "abandoned" | "opened" | "unknown"

/** The run of a launch as the control plane knows it (docs/launch.md#dead-agents). */
export class RunFate extends Context.Service<
  RunFate,
  {
    /** Says that nobody will open the session of a run. One attempt; trouble is logged. */
    readonly abandon: (runId: string, reason: string) => Effect.Effect<Abandonment>
    /** Whether the run still waits for its session; false also when that cannot be told. */
    readonly isWaiting: (runId: string) => Effect.Effect<boolean>
  }
>()("runplane/launcher/RunFate") {
  static readonly layer = Layer.unwrap(
    Effect.map(LauncherSettings, ({ controlPlane }) =>
      controlPlane === undefined ? nowhere : atControlPlane(controlPlane)
    )
  )
}

const nowhere = Layer.succeed(
  RunFate,
  RunFate.of({ abandon: () => Effect.succeed("unknown"), isWaiting: () => Effect.succeed(false) })
)

const atControlPlane = (settings: ControlPlaneSettings) =>
  Layer.effect(
    RunFate,
    Effect.gen(function* () {
      const plane = yield* makePlaneClient(settings)

      const abandon = Effect.fn("RunFate.abandon")((runId: string, reason: string) =>
        plane.ask(`/runs/${runId}/abandon`, { reason: reason.slice(0, MAX_REASON_LENGTH) }).pipe(
          Effect.flatMap(({ status }): Effect.Effect<Abandonment, NotTold> => {
            if (status === 201) return Effect.succeed("abandoned")
            return status === 409 ? Effect.succeed("opened") : Effect.fail(answered(status))
          }),
          Effect.timeout(settings.timeoutMs),
          Effect.catch((failure) =>
            Effect.as(
              Effect.logWarning(`the control plane was not told that run ${runId} was given up: ${oneLine(failure)}`),
              "unknown" as const
            )
          )
        )
      )

      const isWaiting = Effect.fn("RunFate.isWaiting")((runId: string) =>
        plane.get(`/runs/${runId}`).pipe(
          Effect.filterOrFail(
            ({ status }) => status === 200,
            ({ status }) => answered(status)
          ),
          Effect.flatMap((response) => response.json),
          Effect.map((run) => Predicate.hasProperty(run, "status") && WAITING.has(run.status)),
          Effect.timeout(settings.timeoutMs),
          Effect.catch((failure) =>
            Effect.as(
              Effect.logWarning(`the control plane does not tell how run ${runId} is: ${oneLine(failure)}`),
              false
            )
          )
        )
      )

      return RunFate.of({ abandon, isWaiting })
    })
  )

/** Statuses of a run whose session is not open yet. */
const WAITING: ReadonlySet<unknown> = new Set(["queued", "starting"])

class NotTold extends Data.TaggedError("NotTold")<{ readonly message: string }> {}

const answered = (status: number) => new NotTold({ message: `it answered ${status}` })
