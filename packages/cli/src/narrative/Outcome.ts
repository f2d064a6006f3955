import { costText, narrativeTime, type RunMetrics, type RunState, statedReason, type Why } from "@runplane/domain"
import { plainText } from "./PlainText.ts"

/** The extent of a run's narrative, and the result of the decision record. */
export interface NarrativeFacts {
  /** The zero of the narrative, Unix milliseconds. */
  readonly begin: number
  /** Milliseconds from there to the end of the run, or to its last event. */
  readonly durationMs: number
  /** Events until the end, the end included. */
  readonly events: number
  /** Why the run failed; undefined for other runs, and where the lines before have said it. */
  readonly error: string | undefined
  /** Of the decision record; undefined without a decision. */
  readonly why: Pick<Why, "summary" | "decidedAt"> | undefined
}

/** Whether the run came to a decision. */
export const isDecided = ({ decision, run }: RunState): boolean =>
  run.status === "completed" && decision.current?.finalized === true

/** How a run ended and why, as pairs of a heading and a text. */
export const describeOutcome = (
  state: RunState,
  metrics: RunMetrics,
  narrative: NarrativeFacts
): ReadonlyArray<readonly [string, string]> => {
  const { decision, llm, policy } = state
  const { current } = decision
  return [
    ["Decision", current?.finalized ? decided(current) : `none, the run is ${state.run.status}`],
    // The reason of a contribution is not that of a decision, and does not say why there is none.
    ...pair("Because", current?.finalized === true ? statedReason(current.reasons) : narrative.error),
    [
      "Votes",
      `${votes(current, "allow")} for, ${votes(current, "deny")} against; quorum ${policy.quorumStatus ?? "pending"}`
    ],
    ...pair("Why", narrative.why?.summary),
    ...pair("Settled", turningPoint(narrative)),
    [
      "Tokens",
      `${amount(metrics.totalTokens)} in ${llm.totals.callCount} calls, about ${costText(metrics.estimatedCostUsd, metrics.guessedCostUsd)}${lacking(metrics)}`
    ],
    ["Events", `${amount(narrative.events)} in ${seconds(narrative.durationMs)} s`]
  ]
}

/** When nothing prevented the outcome any more: "decided at 2.6 s, 0.9 s before the commitment". */
const turningPoint = ({ begin, why }: NarrativeFacts) => {
  if (why?.decidedAt === undefined) return undefined
  const { msBeforeCommitment, ts } = why.decidedAt
  return `decided at ${seconds(narrativeTime(begin, ts))} s, ${seconds(msBeforeCommitment)} s before the commitment`
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
