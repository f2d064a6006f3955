import { type ControlPlaneRun, type LaunchUnaffordable, MAX_TOKEN_TTL_MS } from "@runplane/api"
import { awaitsSession, isTerminal, RunStatus, wholeStart } from "@runplane/domain"
import { callingSpan, traceParentOf } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { oneLine } from "../common/LaunchErrors.ts"
import { type ControlPlaneSettings, LauncherSettings } from "../LauncherSettings.ts"
import { makePendingRuns, type PendingRuns } from "./PendingRuns.ts"
import { acceptedRun, type Descriptor, NoAnswer, type SubmissionRefused } from "./Submission.ts"

/** Longest reason that the control plane accepts, characters. */
const MAX_REASON_LENGTH = 4_000

/** Agents start without a token when none comes within this time. Milliseconds. */
const TOKEN_TIMEOUT_MS = 2_000

const decodeJoinToken = Schema.decodeUnknownEffect(Schema.Struct({ header: Schema.NonEmptyString }))

/** What became of a run that was abandoned: it failed with the reason, its session was open, or nothing is known. */
export type Abandonment = "abandoned" | "opened" | "unknown"

/** Error code of a run that was abandoned, or waited in vain for its session. */
const SESSION_NOT_OPENED = "RUNTIME_TIMEOUT"

/** The run of an earlier launch. */
export interface FoundRun {
  readonly run: ControlPlaneRun
  /** Hash of the request that launched it; undefined when it has no key. */
  readonly request: string | undefined
  /** It has failed because no agent opened its session. */
  readonly isUnopened: boolean
}

/** Whether the session of a run is awaited or open, or the run has ended. A deleted run has ended. */
export type RunPhase = "waiting" | "open" | "ended"

/**
 * The runs of launches at the control plane of PROTO_CONTROL_PLANE_URL, if there is one. Each call is one attempt; a
 * submission without an answer is repeated in the background (docs/internals/launch.md#pending-runs).
 */
export class LaunchedRuns extends Context.Service<
  LaunchedRuns,
  {
    /**
     * The accepted run; none without a control plane, or when it did not accept: that is logged and fails no launch
     * (docs/internals/launch.md#submission). Only a budget that refuses the run fails its launch.
     */
    readonly submit: (descriptor: Descriptor) => Effect.Effect<Option.Option<ControlPlaneRun>, LaunchUnaffordable>
    /**
     * A header as an entry of `OTEL_EXPORTER_OTLP_HEADERS`, with a token that lets spans join the run of the session
     * (docs/reference/ingest.md#tokens), those of a shadow under its name alone. None without a control plane, or
     * when it issues none: that is logged.
     */
    readonly joinHeader: (descriptor: Descriptor, shadow?: string) => Effect.Effect<string | undefined>
    /** Reports that no agent will open the session of a run (docs/internals/launch.md#dead-agents). Logs failures. */
    readonly abandon: (runId: string, reason: string) => Effect.Effect<Abandonment>
    readonly phase: (runId: string) => Effect.Effect<RunPhase, NoAnswer>
    /** The run of a launch's session; undefined without one. */
    readonly find: (sessionId: string) => Effect.Effect<FoundRun | undefined, NoAnswer>
    /** The launch of a session has failed: its run is abandoned too when it is still to be submitted. */
    readonly fail: PendingRuns["fail"]
    readonly waiting: PendingRuns["waiting"]
    readonly dropped: PendingRuns["dropped"]
  }
>()("runplane/launcher/LaunchedRuns") {
  static readonly layer = Layer.effect(
    LaunchedRuns,
    Effect.gen(function* () {
      const { controlPlane, dataDir } = yield* LauncherSettings
      return controlPlane === undefined ? withoutControlPlane : yield* makeLaunchedRuns(controlPlane, dataDir)
    })
  )
}

const withoutControlPlane = LaunchedRuns.of({
  submit: () => Effect.succeedNone,
  joinHeader: () => Effect.succeed(undefined),
  abandon: () => Effect.succeed("unknown"),
  phase: () => Effect.fail(new NoAnswer({ message: "there is no control plane" })),
  find: () => Effect.succeed(undefined),
  fail: () => Effect.void,
  waiting: Effect.succeed({ runs: 0, since: undefined }),
  dropped: Effect.succeed({ refused: 0, expired: 0, full: 0 })
})

/** Not by the typed client, which requires 202 and a whole answer: any 2xx that names our session accepts. */
const makeLaunchedRuns = Effect.fnUntraced(function* (
  { apiKey, timeoutMs, url }: ControlPlaneSettings,
  dataDir: string | undefined
) {
  const client = (yield* HttpClient.HttpClient).pipe(
    HttpClient.mapRequest(HttpClientRequest.prependUrl(url)),
    HttpClient.mapRequest((request) =>
      apiKey === undefined ? request : HttpClientRequest.bearerToken(request, Redacted.value(apiKey))
    )
  )
  const path = yield* Path.Path
  const post = (path: string, body: object) => HttpClientRequest.bodyJsonUnsafe(HttpClientRequest.post(path), body)

  const attempt = (
    descriptor: Descriptor
  ): Effect.Effect<ControlPlaneRun, LaunchUnaffordable | NoAnswer | SubmissionRefused> =>
    client.execute(post("/runs", descriptor)).pipe(
      Effect.flatMap((response) => acceptedRun(response, descriptor.session.sessionId)),
      Effect.timeout(timeoutMs),
      Effect.catchTags({
        HttpClientError: (failure) => Effect.fail(new NoAnswer({ message: oneLine(failure) })),
        TimeoutError: (failure) => Effect.fail(new NoAnswer({ message: oneLine(failure) }))
      })
    )

  const submit = Effect.fn("LaunchedRuns.submit")((descriptor: Descriptor) => {
    const { sessionId } = descriptor.session
    const log = (failure: { readonly message: string }) =>
      Effect.logWarning(`the control plane did not accept run ${sessionId}: ${oneLine(failure)}`)
    return attempt(descriptor).pipe(
      Effect.asSome,
      Effect.catchTags({
        SubmissionRefused: (failure) => Effect.as(log(failure), Option.none()),
        NoAnswer: (failure) => Effect.as(Effect.andThen(log(failure), pending.keep(descriptor)), Option.none())
      })
    )
  })

  const joinHeader = Effect.fn("LaunchedRuns.joinHeader")((descriptor: Descriptor, shadow?: string) => {
    const { sessionId, ttlMs } = descriptor.session
    const issued = Effect.gen(function* () {
      const life = Math.min(ttlMs, MAX_TOKEN_TTL_MS)
      const request = post("/ingest/tokens", { sessionId, ttlMs: life, ...(shadow !== undefined && { shadow }) })
      const response = yield* client.execute(request)
      if (response.status !== 201) return yield* unusable(response.status)
      return (yield* Effect.flatMap(response.json, decodeJoinToken)).header
    })
    return issued.pipe(
      Effect.timeout(Math.min(timeoutMs, TOKEN_TIMEOUT_MS)),
      Effect.catch((failure) => {
        const line = `the agents of ${sessionId} get no token for their telemetry: ${oneLine(failure)}`
        return Effect.as(Effect.logWarning(line), undefined)
      })
    )
  })

  /** An earlier submission may have made the run, although its answer did not arrive. */
  const get = (id: string) =>
    client
      .get(`/runs/${id}`)
      .pipe(Effect.flatMap((response) => (response.status === 404 ? Effect.succeed(undefined) : foundRun(response))))

  const submitAgain = (descriptor: Descriptor): ReturnType<typeof attempt> =>
    attempt(descriptor).pipe(
      Effect.catchTag("SubmissionRefused", (refused): ReturnType<typeof attempt> => {
        const { sessionId = "" } = descriptor.session
        if (!refused.isSessionTaken) return Effect.fail(refused)
        return Effect.flatMap(find(sessionId), (found) =>
          found === undefined ? Effect.fail(refused) : Effect.succeed(found.run)
        )
      })
    )

  const abandon = Effect.fn("LaunchedRuns.abandon")(function* (runId: string, reason: string) {
    // A 409 is an ordinary answer: the request has no span of its own, which the status would mark as failed.
    const caller = yield* callingSpan
    const request = post(`/runs/${runId}/abandon`, { reason: wholeStart(reason, MAX_REASON_LENGTH) })
    const trace = caller === undefined ? {} : { traceparent: traceParentOf(caller) }
    return yield* client.execute(HttpClientRequest.setHeaders(request, trace)).pipe(
      Effect.provideService(HttpClient.TracerDisabledWhen, () => true),
      Effect.flatMap(({ status }) => {
        if (status === 201) return Effect.succeed<Abandonment>("abandoned")
        if (status !== 409) return Effect.fail(unusable(status))
        // The session has been opened, or the run has ended: perhaps because it was abandoned before.
        return Effect.map(get(runId), (found): Abandonment => (found?.isUnopened === true ? "abandoned" : "opened"))
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

  const find = Effect.fn("LaunchedRuns.find")((sessionId: string) =>
    get(sessionId).pipe(
      Effect.timeout(timeoutMs),
      Effect.mapError((failure) => new NoAnswer({ message: oneLine(failure) }))
    )
  )

  const folder = dataDir === undefined ? undefined : path.join(dataDir, "waiting-runs")
  const pending = yield* makePendingRuns({ folder, submit: submitAgain, abandon })
  const { dropped, fail, waiting } = pending
  return LaunchedRuns.of({ submit, joinHeader, abandon, phase, find, fail, waiting, dropped })
})

const unusable = (status: number) => new NoAnswer({ message: `it answered ${status}` })

const decodeRun = HttpClientResponse.schemaBodyJson(Schema.Struct({ status: RunStatus }))

const phaseOf = Effect.fnUntraced(function* (response: HttpClientResponse.HttpClientResponse) {
  if (response.status !== 200) return yield* unusable(response.status)
  const { status } = yield* decodeRun(response)
  const phase: RunPhase = isTerminal(status) ? "ended" : awaitsSession(status) ? "waiting" : "open"
  return phase
})

const decodeFound = HttpClientResponse.schemaBodyJson(
  Schema.Struct({
    id: Schema.NonEmptyString,
    runtimeSessionId: Schema.NonEmptyString,
    status: RunStatus,
    traceId: Schema.optionalKey(Schema.String),
    errorCode: Schema.optionalKey(Schema.String),
    metadata: Schema.optionalKey(
      Schema.Struct({ launchKey: Schema.optionalKey(Schema.Struct({ request: Schema.String })) })
    )
  })
)

const foundRun = Effect.fnUntraced(function* (response: HttpClientResponse.HttpClientResponse) {
  if (response.status !== 200) return yield* unusable(response.status)
  const { errorCode, id, metadata, runtimeSessionId, status, traceId } = yield* decodeFound(response)
  const run: ControlPlaneRun = {
    runId: id,
    sessionId: runtimeSessionId,
    status,
    ...(traceId !== undefined && { traceId })
  }
  const found: FoundRun = {
    run,
    request: metadata?.launchKey?.request,
    isUnopened: status === "failed" && errorCode === SESSION_NOT_OPENED
  }
  return found
})
