import { type ControlPlaneCalls, ControlPlaneClient, MARKDOWN_CONTENT_TYPE, type RunStreamEvent } from "@runplane/api"
import { isTerminal, RECEIPT_ARTIFACT } from "@runplane/domain"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import * as Redacted from "effect/Redacted"
import type * as Stream from "effect/Stream"
import { oneLine } from "../common/LaunchErrors.ts"
import type { ControlPlaneSettings } from "../LauncherSettings.ts"
import { type TaskError, taskError } from "./TaskErrors.ts"
import type { Decided, SeenRun } from "./TaskView.ts"

/** A read of the control plane that takes longer has failed. Milliseconds. */
const READ_TIMEOUT_MS = 15_000
/** What the control plane adds to a request that waits. Milliseconds. */
const SLACK_MS = 10_000
/** How long the artifacts of a decided task wait for the seal of its run. Milliseconds. */
const SEAL_WAIT_MS = 10_000
const SEAL_PAUSE_MS = 250

type Run = SeenRun["run"]

/** The runs of tasks at the control plane. */
export interface TaskRuns {
  /** The run of a session; undefined without one. With `waitMs` it is answered when it has ended, or then. */
  readonly find: (sessionId: string, waitMs?: number) => Effect.Effect<Run | undefined, TaskError>
  /** The card of a run that has ended. */
  readonly card: (run: Run) => Effect.Effect<SeenRun["card"], TaskError>
  /** What the artifacts of a decided run are made of. `waits`: until its seal is there, for some seconds. */
  readonly decided: (run: Run, waits: boolean) => Effect.Effect<Decided, TaskError>
  /** Cancels a run; fails with the reason for which its session does not allow it. */
  readonly cancel: (run: Run, reason: string) => Effect.Effect<void, TaskError>
  /** The events of a run behind `afterSeq`, to its end. */
  readonly follow: (run: Run, afterSeq: number) => Stream.Stream<RunStreamEvent, { readonly message: unknown }>
}

const away = (failure: { readonly message: unknown }): TaskError =>
  taskError("Unavailable", `the control plane does not answer: ${oneLine(failure)}`)

export const makeTaskRuns = Effect.fnUntraced(function* ({ apiKey, url }: ControlPlaneSettings) {
  const { api, streamRun } = yield* ControlPlaneClient.pipe(
    Effect.provide(ControlPlaneClient.layer({ baseUrl: url, ...(apiKey === undefined ? {} : { apiKey }) }))
  )
  const client = yield* HttpClient.HttpClient
  return taskRunsOf(api, streamRun, markdownOf(client, url, apiKey))
})

type Follow = ControlPlaneClient["Service"]["streamRun"]
type Markdown = (runId: string) => Effect.Effect<string, { readonly message: unknown }>

/** The typed client requests JSON. */
const markdownOf =
  (client: HttpClient.HttpClient, url: string, apiKey: Redacted.Redacted | undefined): Markdown =>
  (runId) => {
    const request = HttpClientRequest.get(`${url}/runs/${runId}/decision/why`, {
      headers: { accept: MARKDOWN_CONTENT_TYPE }
    })
    const withKey = apiKey === undefined ? request : HttpClientRequest.bearerToken(request, Redacted.value(apiKey))
    return client
      .execute(withKey)
      .pipe(
        Effect.flatMap((response) =>
          Effect.flatMap(response.text, (text) =>
            response.status === 200
              ? Effect.succeed(text)
              : Effect.fail({ message: `it answered ${response.status} about the record of ${runId}` })
          )
        )
      )
  }

const taskRunsOf = (api: ControlPlaneCalls, streamRun: Follow, markdown: Markdown): TaskRuns => {
  const read = <A, E extends { readonly message: unknown }>(call: Effect.Effect<A, E>, ms = READ_TIMEOUT_MS) =>
    Effect.mapError(Effect.timeout(call, ms), away)

  const find: TaskRuns["find"] = (sessionId, waitMs) =>
    read(
      api.runs
        .get({
          params: { id: sessionId },
          query: waitMs === undefined ? {} : { wait: "terminal", timeoutMs: waitMs }
        })
        .pipe(Effect.catchTag("NotFound", () => Effect.succeed(undefined))),
      (waitMs ?? 0) + SLACK_MS
    )

  const card: TaskRuns["card"] = (run) =>
    isTerminal(run.status) ? read(api.decisions.card({ params: { id: run.id }, query: {} })) : Effect.succeed(undefined)

  /** Undefined where it is not made yet, or never will be. */
  const sealNow = (run: Run) =>
    read(Effect.catchTag(api.seals.seal({ params: { id: run.id } }), "Conflict", () => Effect.succeed(undefined)))

  const seal = Effect.fnUntraced(function* (run: Run, waits: boolean) {
    const until = (yield* Clock.currentTimeMillis) + (waits ? SEAL_WAIT_MS : 0)
    let made = yield* sealNow(run)
    while (made === undefined && (yield* Clock.currentTimeMillis) < until) {
      yield* Effect.sleep(SEAL_PAUSE_MS)
      made = yield* sealNow(run)
    }
    return made
  })

  return {
    find,
    card,
    decided: Effect.fnUntraced(function* (run, waits) {
      const params = { id: run.id }
      // The receipt may come after the end of the run, and before its seal, which covers it.
      const sealed = yield* seal(run, waits)
      const { artifacts, text, why, card } = yield* Effect.all(
        {
          why: read(api.decisions.why({ params })),
          card: read(api.decisions.card({ params, query: {} })),
          text: read(markdown(run.id)),
          artifacts: read(api.runs.artifacts({ params }))
        },
        { concurrency: 2 }
      )
      if (typeof why === "string") return yield* away({ message: "its record is not JSON" })
      return {
        why,
        card,
        markdown: text,
        receipt: artifacts.findLast(({ kind }) => kind === RECEIPT_ARTIFACT)?.inline,
        seal: sealed
      }
    }),
    cancel: (run, reason) =>
      api.runs.cancel({ params: { id: run.id }, payload: { reason } }).pipe(
        Effect.asVoid,
        Effect.timeout(READ_TIMEOUT_MS),
        Effect.mapError((failure) =>
          failure._tag === "TimeoutError" || failure._tag === "HttpClientError"
            ? away(failure)
            : taskError("TaskNotCancelable", oneLine(failure))
        )
      ),
    follow: (run, afterSeq) => streamRun(run.id, { afterSeq, snapshots: "first" })
  }
}
