import type { CompileLaunchResult, ControlPlaneRun, LaunchUnaffordable } from "@runplane/api"
import { awaitsSession, isTerminal, RunStatus, wholeStart } from "@runplane/domain"
import { callingSpan, traceParentOf } from "@runplane/server"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { launchUnaffordable, oneLine } from "../common/LaunchErrors.ts"
import { type ControlPlaneSettings, LauncherSettings } from "../LauncherSettings.ts"

type Descriptor = CompileLaunchResult["runDescriptor"]

/** Longest part of an error answer that is logged, characters. */
const MAX_LOGGED_LENGTH = 1_000

/** Longest reason that the control plane accepts, characters. */
const MAX_REASON_LENGTH = 4_000

/** What became of a run that was abandoned: it failed with the reason, its session was open, or nothing is known. */
export type Abandonment = "abandoned" | "opened" | "unknown"

/** Whether the session of a run is awaited or open, or the run has ended. A deleted run has ended. */
export type RunPhase = "waiting" | "open" | "ended"

/** Why the control plane gave no usable answer; one line. */
export class NoAnswer extends Data.TaggedError("NoAnswer")<{ readonly message: string }> {}

/**
 * The runs of launches at the control plane of PROTO_CONTROL_PLANE_URL, if there is one. Each call is one attempt.
 */
export class LaunchedRuns extends Context.Service<
  LaunchedRuns,
  {
    /**
     * The accepted run; none without a control plane, or when it did not accept: that is logged and fails no launch
     * (docs/internals/launch.md#submission). Only a budget that refuses the run fails its launch.
     */
    readonly submit: (descriptor: Descriptor) => Effect.Effect<Option.Option<ControlPlaneRun>, LaunchUnaffordable>
    /** Reports that no agent will open the session of a run (docs/internals/launch.md#dead-agents). Logs failures. */
    readonly abandon: (runId: string, reason: string) => Effect.Effect<Abandonment>
    readonly phase: (runId: string) => Effect.Effect<RunPhase, NoAnswer>
  }
>()("runplane/launcher/LaunchedRuns") {
  static readonly layer = Layer.effect(
    LaunchedRuns,
    Effect.gen(function* () {
      const { controlPlane } = yield* LauncherSettings
      return controlPlane === undefined ? withoutControlPlane : yield* makeLaunchedRuns(controlPlane)
    })
  )
}

const withoutControlPlane = LaunchedRuns.of({
  submit: () => Effect.succeedNone,
  abandon: () => Effect.succeed("unknown"),
  phase: () => Effect.fail(new NoAnswer({ message: "there is no control plane" }))
})

/** Not by the typed client, which requires 202 and a whole answer: any 2xx that names our session accepts. */
const makeLaunchedRuns = Effect.fnUntraced(function* ({ apiKey, timeoutMs, url }: ControlPlaneSettings) {
  const client = (yield* HttpClient.HttpClient).pipe(
    HttpClient.mapRequest(HttpClientRequest.prependUrl(url)),
    HttpClient.mapRequest((request) =>
      apiKey === undefined ? request : HttpClientRequest.bearerToken(request, Redacted.value(apiKey))
    )
  )
  const post = (path: string, body: object) => HttpClientRequest.bodyJsonUnsafe(HttpClientRequest.post(path), body)

  const submit = Effect.fn("LaunchedRuns.submit")((descriptor: Descriptor) => {
    const { sessionId } = descriptor.session
    return client.execute(post("/runs", descriptor)).pipe(
      Effect.flatMap((response) => acceptedRun(response, sessionId)),
      Effect.timeout(timeoutMs),
      Effect.asSome,
      Effect.catch((failure) =>
        failure._tag === "LaunchUnaffordable"
          ? Effect.fail(failure)
          : Effect.as(
              Effect.logWarning(`the control plane did not accept run ${sessionId}: ${oneLine(failure)}`),
              Option.none()
            )
      )
    )
  })

  const abandon = Effect.fn("LaunchedRuns.abandon")(function* (runId: string, reason: string) {
    // A 409 is an ordinary answer: the request has no span of its own, which the status would mark as failed.
    const caller = yield* callingSpan
    const request = post(`/runs/${runId}/abandon`, { reason: wholeStart(reason, MAX_REASON_LENGTH) })
    const trace = caller === undefined ? {} : { traceparent: traceParentOf(caller) }
    return yield* client.execute(HttpClientRequest.setHeaders(request, trace)).pipe(
      Effect.provideService(HttpClient.TracerDisabledWhen, () => true),
      Effect.flatMap(({ status }): Effect.Effect<Abandonment, NoAnswer> => {
        if (status === 201) return Effect.succeed("abandoned")
        return status === 409 ? Effect.succeed("opened") : Effect.fail(unusable(status))
      }),
      Effect.timeout(timeoutMs),
      Effect.catch((failure) =>
        Effect.as(
          Effect.logWarning(`the control plane did not abandon run ${runId}: ${oneLine(failure)}`),
          "unknown" as const
        )
      )
    )
  })

  const phase = Effect.fn("LaunchedRuns.phase")((runId: string) =>
    client.get(`/runs/${runId}`).pipe(
      Effect.flatMap((response) => (response.status === 404 ? Effect.succeed("ended" as const) : phaseOf(response))),
      Effect.timeout(timeoutMs),
      Effect.mapError((failure) => new NoAnswer({ message: oneLine(failure) }))
    )
  )

  return LaunchedRuns.of({ submit, abandon, phase })
})

const unusable = (status: number) => new NoAnswer({ message: `it answered ${status}` })

const decodeRun = HttpClientResponse.schemaBodyJson(Schema.Struct({ status: RunStatus }))

const phaseOf = Effect.fnUntraced(function* (response: HttpClientResponse.HttpClientResponse) {
  if (response.status !== 200) return yield* unusable(response.status)
  const { status } = yield* decodeRun(response)
  const phase: RunPhase = isTerminal(status) ? "ended" : awaitsSession(status) ? "waiting" : "open"
  return phase
})

const Accepted = Schema.Struct({
  runId: Schema.NonEmptyString,
  sessionId: Schema.NonEmptyString,
  status: Schema.NonEmptyString,
  traceId: Schema.optionalKey(Schema.Unknown)
})
const decodeAccepted = Schema.decodeUnknownEffect(Accepted)

const decodeRefusal = HttpClientResponse.schemaBodyJson(
  Schema.Struct({ errorCode: Schema.Literal("BUDGET_EXHAUSTED"), message: Schema.String })
)

/** The run of the submitted session, or why the answer has none. */
const acceptedRun = Effect.fnUntraced(function* (
  response: HttpClientResponse.HttpClientResponse,
  sessionId: string | undefined
) {
  if (response.status === 409) {
    const refusal = yield* Effect.option(decodeRefusal(response))
    if (Option.isSome(refusal)) return yield* launchUnaffordable(refusal.value.message)
  }
  if (response.status < 200 || response.status > 299) {
    const text = wholeStart(yield* response.text, MAX_LOGGED_LENGTH)
    return yield* new NoAnswer({ message: `it answered ${response.status}: ${text}` })
  }
  const { traceId, ...run } = yield* Effect.flatMap(response.json, decodeAccepted).pipe(
    Effect.mapError(() => new NoAnswer({ message: `its answer ${response.status} does not describe a run` }))
  )
  if (run.sessionId !== sessionId) {
    return yield* new NoAnswer({ message: `it answered with session ${run.sessionId}` })
  }
  const accepted: ControlPlaneRun = typeof traceId === "string" && traceId !== "" ? { ...run, traceId } : run
  return accepted
})
