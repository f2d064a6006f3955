import type * as PgClient from "@effect/sql-pg/PgClient"
import { type CanonicalEvent, decodeEventText } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { readEndOfLog } from "../../../event-log/consume/EndOfLog.ts"
import type { makeAlertStep } from "../AlertStep.ts"
import type { makeAlertStores } from "../AlertStore.ts"
import type { makeActiveRules } from "./ActiveRules.ts"

/** Events, and marks, of one step. */
export const STEP_EVENTS = 1_000

/** The parts of the evaluator that every step needs. */
export interface StepParts {
  readonly rules: Effect.Success<typeof makeActiveRules>
  readonly stores: Effect.Success<ReturnType<typeof makeAlertStores>>
  readonly takeStep: Effect.Success<ReturnType<typeof makeAlertStep>>
}

/** The next events of the log. */
export const readLog = (sql: PgClient.PgClient, after: number) =>
  Effect.map(readEndOfLog(sql, after, STEP_EVENTS), ({ events, isEnd, upTo }) => ({
    events: events.flatMap(({ json }) => eventOf(json)),
    ...{ isEnd, upTo }
  }))

/** A stored event; none of a later version. */
export const eventOf = (text: string): ReadonlyArray<CanonicalEvent> =>
  Result.match(decodeEventText(text), {
    onSuccess: (event) => [event],
    onFailure: () => []
  })
