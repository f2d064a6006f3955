import type { RunMetrics, RunState, Why } from "@runplane/domain"
import { plainText } from "./PlainText.ts"

/** What the decision record says of the run, and when its story began, ISO-8601. */
export interface Explained extends Pick<Why, "summary" | "decidedAt"> {
  readonly begunAt: string
}

/** Whether the run came to a decision. */
export const isDecided = ({ decision, run }: RunState): boolean =>
  run.status === "completed" && decision.current?.finalized === true

/** How a run ended and why, as pairs of a heading and a text. */
export const describeOutcome = (
  state: RunState,
  metrics: RunMetrics,
  why?: Explained
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
    ...pair("Why", why?.summary),
    ...pair("Settled", turningPoint(why)),
    [
      "Tokens",
      `${amount(metrics.totalTokens)} in ${llm.totals.callCount} calls, about ${usd(metrics.estimatedCostUsd)}`
    ],
    ["Events", `${amount(metrics.eventCount)} in ${seconds(metrics.durationMs ?? 0)} s`]
  ]
}

/** When nothing stood against the outcome any more: "decided at 2.6 s, 0.9 s before the commitment". */
const turningPoint = (why: Explained | undefined) => {
  if (why?.decidedAt === undefined) return undefined
  const { msBeforeCommitment, ts } = why.decidedAt
  return `decided at ${seconds(Date.parse(ts) - Date.parse(why.begunAt))} s, ${seconds(msBeforeCommitment)} s before the commitment`
}

const decided = ({
  action = "resolved",
  outcomePositive,
  resolvedBy
}: NonNullable<RunState["decision"]["current"]>) => {
  const outcome = outcomePositive === true ? ", positive" : outcomePositive === false ? ", negative" : ""
  return `${plainText(action)}${outcome}${resolvedBy === undefined ? "" : `, by ${plainText(resolvedBy)}`}`
}

/** The ballots of any mode alone: the tally of the policy section counts evaluations, too. */
const votes = (current: RunState["decision"]["current"], side: "allow" | "deny") =>
  (current?.proposals ?? []).filter(({ messageType, vote }) => messageType !== "Evaluation" && vote === side).length

const pair = (heading: string, text: string | undefined): ReadonlyArray<readonly [string, string]> =>
  text === undefined || text === "" ? [] : [[heading, plainText(text)]]

const amount = (value: number) => value.toLocaleString("en-US")

/** Fractions of a cent matter here. */
const usd = (value: number) => `$${value.toFixed(4)}`

export const seconds = (milliseconds: number) => (milliseconds / 1_000).toFixed(1)
