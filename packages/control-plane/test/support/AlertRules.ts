import { randomUUID } from "node:crypto"
import { assert } from "@effect/vitest"
import { draftEvent, type EventDraft, type RunId } from "@runplane/domain"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { EventLog } from "../../src/event-log/EventLog.ts"
import { RISK } from "./Committee.ts"
import { call } from "./HttpService.ts"
import { createRun } from "./Runs.ts"

/** A level of a rule, as a request has it. */
export const level = (at: number, ...actions: ReadonlyArray<object>) => ({ at, severity: "warning", actions })

/** A rule over the runs of one test alone. */
export const ruleOf = (over: Readonly<Record<string, unknown>> = {}) => ({
  ...{ id: `r-${randomUUID()}`, name: "Costs", per: "run", window: "run", measure: "costUsd", levels: [level(1)] },
  ...over
})

export const addRule = Effect.fnUntraced(function* (over: Readonly<Record<string, unknown>> = {}) {
  const rule = ruleOf(over)
  const answer = yield* call("POST", "/alerts/rules", { body: rule })
  assert.strictEqual(answer.status, 201, answer.text)
  return rule
})

/** Changes a rule that `addRule` has made. */
export const putRule = Effect.fnUntraced(function* (
  rule: { readonly id: string },
  change: Readonly<Record<string, unknown>>
) {
  const { id, ...body } = rule
  const answer = yield* call("PUT", `/alerts/rules/${id}`, { body: { ...body, ...change } })
  assert.strictEqual(answer.status, 200, answer.text)
})

export const runningRun = Effect.suspend(() => createRun({ status: "running", createdAt: new Date().toISOString() }))

export const spends = (estimatedCostUsd: number): EventDraft =>
  draftEvent(
    "llm.call.completed",
    {
      ts: new Date().toISOString(),
      subject: { kind: "participant", id: RISK },
      source: { kind: "runtime", name: "rust-runtime" }
    },
    { sender: RISK, decodedPayload: { model: "m", totalTokens: 2, estimatedCostUsd } }
  )

export const record = (runId: RunId, ...events: ReadonlyArray<EventDraft>) =>
  Effect.flatMap(EventLog, (log) => log.record({ runId, events }))

export interface Firing {
  readonly id: string
  readonly level: number
  readonly at: number
  readonly key: string
  readonly runId?: string
  readonly status: string
  readonly silenced: boolean
  readonly resolvedBy?: string
  readonly value: number
}

/** The firings of a rule, the newest first, as soon as they are enough. */
export const alertsOf = (rule: { readonly id: string }, isEnough: (alerts: ReadonlyArray<Firing>) => boolean) =>
  until(
    Effect.map(call("GET", `/alerts?rule=${rule.id}`), ({ body }): ReadonlyArray<Firing> => body.data),
    isEnough
  )
