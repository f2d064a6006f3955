import { type RunMetrics, type RunState, usdText, type Why } from "@runplane/domain"
import { plainText } from "./PlainText.ts"

/** What was told of a run from its first event to its end. */
export interface Told {
  /** When its story began, ISO-8601. */
  readonly begunAt: string
  /** Events until the end, the end included. What agents say after it is in the log, and no part of the story. */
  readonly events: number
  /** What the decision record says; undefined when nobody can tell. */
  readonly why: Pick<Why, "summary" | "decidedAt"> | undefined
}

/** Whether the run came to a decision. */
export const isDecided = ({ decision, run }: RunState): boolean =>
  run.status === "completed" && decision.current?.finalized === true

/** How a run ended and why, as pairs of a heading and a text; of a run that was not told, with all of its events. */
export const describeOutcome = (
  state: RunState,
  metrics: RunMetrics,
  told?: Told
): ReadonlyArray<readonly [string, string]> => {
  const { decision, llm, policy } = state
  const { current } = decision
  return [
    ["Decision", current?.finalized ? decided(current) : `none, the run is ${state.run.status}`],
    ...pair("Because", current?.reasons[0]),
    [
      "Votes",
      `${votes(current, "allow")} for, ${votes(current, "deny")} against; quorum ${policy.quorumStatus ?? "pending"}`
    ],
    ...pair("Why", told?.why?.summary),
    ...pair("Settled", turningPoint(told)),
    [
      "Tokens",
      `${amount(metrics.totalTokens)} in ${llm.totals.callCount} calls, about ${usdText(metrics.estimatedCostUsd, 4)}${lacking(metrics)}`
    ],
    ["Events", `${amount(told?.events ?? metrics.eventCount)} in ${seconds(metrics.durationMs ?? 0)} s`]
  ]
}

/** When nothing stood against the outcome any more: "decided at 2.6 s, 0.9 s before the commitment". */
const turningPoint = (told: Told | undefined) => {
  if (told?.why?.decidedAt === undefined) return undefined
  const { msBeforeCommitment, ts } = told.why.decidedAt
  return `decided at ${seconds(Date.parse(ts) - Date.parse(told.begunAt))} s, ${seconds(msBeforeCommitment)} s before the commitment`
}

const decided = ({
  action = "resolved",
  commitments,
  outcomePositive,
  resolvedBy
}: NonNullable<RunState["decision"]["current"]>) => {
  const outcome = outcomePositive === true ? ", positive" : outcomePositive === false ? ", negative" : ""
  const by = resolvedBy === undefined ? "" : `, by ${plainText(resolvedBy)}`
  return `${plainText(action)}${outcome}${by}${amongCommitments(commitments)}`
}

/** That a decision is the last of several commitments; empty when it is the only one. */
export const amongCommitments = (commitments: number | undefined): string =>
  commitments === undefined ? "" : `; the last of ${commitments} commitments`

/** The ballots of any mode alone: the tally of the policy section counts evaluations, too. */
const votes = (current: RunState["decision"]["current"], side: "allow" | "deny") =>
  (current?.proposals ?? []).filter(({ messageType, vote }) => messageType !== "Evaluation" && vote === side).length

const pair = (heading: string, text: string | undefined): ReadonlyArray<readonly [string, string]> =>
  text === undefined || text === "" ? [] : [[heading, plainText(text)]]

const amount = (value: number) => value.toLocaleString("en-US")

/** What sums of tokens and costs lack: " and 2 calls without usage"; empty when they lack nothing. */
export const lacking = ({ callsWithoutUsage = 0 }: { readonly callsWithoutUsage?: number }): string =>
  callsWithoutUsage === 0 ? "" : ` and ${callsWithoutUsage} ${callsWithoutUsage === 1 ? "call" : "calls"} without usage`

export const seconds = (milliseconds: number) => (milliseconds / 1_000).toFixed(1)
