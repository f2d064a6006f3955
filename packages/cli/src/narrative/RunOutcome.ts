import type { ControlPlaneCalls, Run } from "@runplane/api"
import { isTerminal, narrativeBegin, narrativeTime, type RunMetrics, type RunState } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { isDecided, type NarrativeFacts } from "./Outcome.ts"

/** A run as it is shown at its end, or as it is now. */
export interface RunOutcome {
  readonly run: Run
  readonly state: RunState
  readonly metrics: RunMetrics
  readonly narrative: NarrativeFacts
}

/**
 * Reads what is shown of a run: the same for every command. Its narrative ends with the run, so events that agents send
 * later are in the log and are not counted here.
 */
export const readOutcome = Effect.fnUntraced(function* (api: ControlPlaneCalls, id: string) {
  const params = { id }
  const run = yield* api.runs.get({ params, query: {} })
  const state = yield* api.runs.state({ params })
  const metrics = yield* api.runs.metrics({ params })
  const answer = isDecided(state) ? yield* api.decisions.why({ params }) : ""
  const until = run.endedAt ?? metrics.lastEventAt ?? run.createdAt
  const narrative: NarrativeFacts = {
    begin: narrativeBegin(run),
    events: (isTerminal(run.status) ? yield* indexOfEnd(api, id) : undefined) ?? metrics.eventCount,
    durationMs: narrativeTime(narrativeBegin(run), until),
    error: run.errorMessage,
    why: typeof answer === "string" ? undefined : answer
  }
  return { run, state, metrics, narrative } satisfies RunOutcome
})

const ENDS = ["run.completed", "run.failed", "run.cancelled"]

/** The index of the event that ended the run, which is the number of events until then. */
const indexOfEnd = (api: ControlPlaneCalls, id: string) =>
  Effect.map(api.events.list({ params: { id }, query: { afterSeq: 0, limit: 1, type: ENDS } }), (answer) =>
    ("data" in answer ? answer.data : answer).at(0)
  ).pipe(Effect.map((event) => event?.index))
