import { isTerminal, RunStatus, wholeStart } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { type HttpClientError, HttpClientResponse } from "effect/http"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
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

/**
 * Where a run is in its life: its session is not open yet, or is, or the run has ended. A run that has been deleted has
 * ended.
 */
export type RunPhase = "waiting" | "open" | "ended"

/** Why the control plane does not say something; one line. */
export class NotTold extends Data.TaggedError("NotTold")<{ readonly message: string }> {}

/** The run of a launch as the control plane knows it (docs/internals/launch.md#dead-agents). */
export class RunFate extends Context.Service<
  RunFate,
  {
    /** Says that nobody will open the session of a run. One attempt; trouble is logged. */
    readonly abandon: (runId: string, reason: string) => Effect.Effect<Abandonment>
    /** One attempt. */
    readonly phase: (runId: string) => Effect.Effect<RunPhase, NotTold>
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
  RunFate.of({
    abandon: () => Effect.succeed("unknown"),
    phase: () => Effect.fail(new NotTold({ message: "there is no control plane" }))
  })
)

const atControlPlane = (settings: ControlPlaneSettings) =>
  Layer.effect(
    RunFate,
    Effect.gen(function* () {
      const plane = yield* makePlaneClient(settings)

      const abandon = Effect.fn("RunFate.abandon")((runId: string, reason: string) =>
        plane.ask(`/runs/${runId}/abandon`, { reason: wholeStart(reason, MAX_REASON_LENGTH) }).pipe(
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

      const phase = Effect.fn("RunFate.phase")((runId: string) =>
        Effect.gen(function* (): Effect.fn.Return<
          RunPhase,
          HttpClientError.HttpClientError | Schema.SchemaError | NotTold
        > {
          const response = yield* plane.get(`/runs/${runId}`)
          if (response.status === 404) return "ended"
          if (response.status !== 200) return yield* answered(response.status)
          const { status } = yield* decodeRun(response)
          return isTerminal(status) ? "ended" : WAITING.has(status) ? "waiting" : "open"
        }).pipe(
          Effect.timeout(settings.timeoutMs),
          Effect.mapError((failure) => new NotTold({ message: oneLine(failure) }))
        )
      )

      return RunFate.of({ abandon, phase })
    })
  )

/** Statuses of a run whose session is not open yet. */
const WAITING: ReadonlySet<RunStatus> = new Set<RunStatus>(["queued", "starting"])

const decodeRun = HttpClientResponse.schemaBodyJson(Schema.Struct({ status: RunStatus }))

const answered = (status: number) => new NotTold({ message: `it answered ${status}` })
