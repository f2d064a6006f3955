import { assert } from "@effect/vitest"
import type { WebhookDelivery } from "@runplane/api"
import { type RunId, type RunStatus, runResumed, runSuspended } from "@runplane/domain"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { EventLog } from "../../src/event-log/EventLog.ts"
import { WebhookRepository } from "../../src/features/webhooks/WebhookRepository.ts"
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
  const changed = yield* log.change({
    runId,
    to,
    ...(to === "failed" && { failure: { errorCode: "SESSION_EXPIRED", errorMessage: "runtime session expired" } }),
    events: ({ runtimeSessionId, traceId }, ts) => {
      const pause = { ts, runId, traceId, runtimeSessionId }
      if (resumed) return [runResumed(pause)]
      return to === "suspended" ? [runSuspended(pause)] : []
    }
  })
  assert.notStrictEqual(changed.change, "rejected", `the run is ${changed.status}`)
})

/** A run without an observer, brought to `running`. */
export const startRun = Effect.gen(function* () {
  const runId = yield* createRun()
  for (const status of ["starting", "binding_session", "running"] as const) yield* change(runId, status)
  return runId
})

/** The stored deliveries of a subscription, the latest first. */
export const storedDeliveries = Effect.fnUntraced(function* (id: string, status?: WebhookDelivery["status"]) {
  const repository = yield* WebhookRepository
  const { rows } = yield* repository.deliveryIds(id, { limit: 200, offset: 0, ...(status !== undefined && { status }) })
  return (yield* repository.deliveries(rows.map((row) => row.id))).rows
})

/** Waits until the deliveries of a subscription are as wanted, and answers them; the latest first. */
export const awaitDeliveries = Effect.fnUntraced(function* (
  id: string,
  wanted: (deliveries: ReadonlyArray<Readonly<Record<string, unknown>>>) => boolean
) {
  const { body } = yield* until(call("GET", `/webhooks/${id}/deliveries?limit=200`), ({ body }) => wanted(body.data))
  return body.data
})

export const allEnded = (deliveries: ReadonlyArray<Readonly<Record<string, unknown>>>) =>
  deliveries.length > 0 && deliveries.every(({ status }) => status !== "pending")
