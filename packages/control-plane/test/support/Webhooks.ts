import { type RunId, type RunStatus, runResumed, runSuspended } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { EventLog } from "../../src/events/EventLog.ts"
import { call } from "./HttpService.ts"
import { createRun } from "./Runs.ts"

export const SECRET = "whsec-test-secret"

/** Subscribes and answers the subscription. */
export const subscribe = Effect.fnUntraced(function* (url: string, events: ReadonlyArray<string> = []) {
  const { body, status, text } = yield* call("POST", "/webhooks", { body: { url, events, secret: SECRET } })
  if (status !== 201) throw new Error(text)
  return body
})

/** Changes the status of a run as observers and callers do it. */
export const change = Effect.fnUntraced(function* (runId: RunId, to: RunStatus, resumed = false) {
  const log = yield* EventLog
  yield* log.append({
    runId,
    change: {
      to,
      whenRejected: "fail",
      ...(to === "failed" && { failure: { errorCode: "SESSION_EXPIRED", errorMessage: "runtime session expired" } }),
      events: ({ runtimeSessionId, traceId }, ts) => {
        const pause = { ts, runId, traceId, runtimeSessionId }
        if (resumed) return [runResumed(pause)]
        return to === "suspended" ? [runSuspended(pause)] : []
      }
    }
  })
})

/** A run on which nobody has an eye, brought to `running`. */
export const startRun = Effect.gen(function* () {
  const runId = yield* createRun()
  for (const status of ["starting", "binding_session", "running"] as const) yield* change(runId, status)
  return runId
})

/** Reads the deliveries of a subscription again and again until they are as wanted; the latest first. */
export const awaitDeliveries = Effect.fnUntraced(function* (
  id: string,
  wanted: (deliveries: ReadonlyArray<Readonly<Record<string, unknown>>>) => boolean
) {
  while (true) {
    const { body } = yield* call("GET", `/webhooks/${id}/deliveries?limit=200`)
    if (wanted(body.data)) return body.data
  }
})

export const allEnded = (deliveries: ReadonlyArray<Readonly<Record<string, unknown>>>) =>
  deliveries.length > 0 && deliveries.every(({ status }) => status !== "pending")
