import type { Run } from "@runplane/api"
import { AS_SENT, asSent } from "../../client/AsSent.ts"
import { call, callRuns } from "../../client/Client.ts"
import { isPassing, problemOf } from "../../client/Problem.ts"
import { type RunAction, refusalOf } from "../../view/run/Actions.ts"
import { listQuery, type MatchingRuns } from "./RunQuery.ts"

export type BulkAction = RunAction | "export"

/** The result for one run. */
export interface Outcome {
  readonly run: Run
  /** Why the action was not done; undefined when it was. */
  readonly refusal: string | undefined
}

/** Most runs of one action. */
export const MOST_RUNS = 5_000
/** Runs of one action at the same time. */
const AT_ONCE = 4
const BUNDLE_EVENTS = 10_000
/** Pauses of a run whose call fails for a moment: the service limits the rate of requests. */
const RETRIES = 20
const PAUSE_MS = 1_000

/** All runs of a search, page by page. */
export const readMatching = async ({ anchor, filters }: MatchingRuns): Promise<ReadonlyArray<Run>> => {
  const runs: Array<Run> = []
  let cursor: string | undefined = ""
  while (cursor !== undefined && runs.length < MOST_RUNS) {
    const query = listQuery(filters, anchor, cursor)
    const page = await callRuns((api) => api.runs.list({ query }))
    runs.push(...page.data)
    cursor = page.nextCursor
  }
  return runs.slice(0, MOST_RUNS)
}

/** Why an action is not possible for a run by its record; undefined when it is. */
export const bulkRefusal = (action: BulkAction, run: Run): string | undefined =>
  action === "export" ? undefined : refusalOf(action, run.status, run)

/** Applies an action to each run; `saw` receives the number of finished runs. The bundles are those of an export. */
export const applyToAll = async (
  action: BulkAction,
  runs: ReadonlyArray<Run>,
  reason: string,
  saw: (finished: number) => void
) => {
  const outcomes: Array<Outcome> = []
  const bundles: Array<string> = []
  const rest = [...runs]
  const one = async (run: Run): Promise<string | undefined> => {
    const refusal = bulkRefusal(action, run)
    if (refusal !== undefined) return refusal
    for (let tried = 0; ; tried++) {
      try {
        const bundle = await act(action, run.id, reason)
        if (bundle !== undefined) bundles.push(bundle)
        return undefined
      } catch (error) {
        const problem = problemOf(error, "")
        if (tried < RETRIES && isPassing(problem)) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
        else return `${problem.code}: ${problem.messages.join("; ")}`
      }
    }
  }
  const worker = async () => {
    for (let run = rest.shift(); run !== undefined; run = rest.shift()) {
      outcomes.push({ run, refusal: await one(run) })
      saw(outcomes.length)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return { outcomes, bundles }
}

/** Answers the JSON of a bundle for an export, nothing else. */
const act = async (action: BulkAction, id: string, reason: string): Promise<string | undefined> => {
  const params = { id }
  if (action === "export") {
    const query = {
      includeCanonical: true,
      includeRaw: false,
      includeMarks: true,
      eventLimit: BUNDLE_EVENTS,
      format: "json"
    } as const
    return call((api) => asSent(api.exports.export({ params, query, responseMode: AS_SENT })))
  }
  if (action === "delete") await call((api) => api.management.remove({ params }))
  else if (action === "archive" || action === "unarchive") await call((api) => api.management[action]({ params }))
  else await call((api) => api.runs[action]({ params, payload: reason === "" ? {} : { reason } }))
  return undefined
}
