import { type RunState, sumUsd } from "@runplane/domain"
import { isGuess } from "../format/Cost.ts"

/** What a participant did in some runs. */
export interface AgentRecord {
  /** Votes for or against, in runs that were decided. */
  readonly decided: number
  /** Of these, the ones that say what was decided. */
  readonly agreed: number
  readonly calls: number
  readonly tokens: number
  readonly costUsd: number
  /** Part of the cost that is a guess. */
  readonly guessedCostUsd: number
  /** Calls without counts, which tokens and cost lack. */
  readonly callsWithoutUsage: number
  /** Mean of the calls that state theirs; undefined without one. */
  readonly latencyMs: number | undefined
}

/** What the states of runs say of one participant. */
export const agentRecord = (participantId: string, states: ReadonlyArray<RunState>): AgentRecord => {
  let agreed = 0
  let decided = 0
  const calls = states.flatMap(({ llm }) => llm.calls.filter((call) => call.participantId === participantId))
  for (const state of states) {
    const vote = voteOf(participantId, state)
    const positive = state.decision.current?.outcomePositive
    if (vote === undefined || typeof positive !== "boolean") continue
    decided += 1
    if (vote === positive) agreed += 1
  }
  const timed = calls.flatMap(({ latencyMs }) => (latencyMs === undefined ? [] : [latencyMs]))
  return {
    decided,
    agreed,
    calls: calls.length,
    tokens: calls.reduce((sum, { totalTokens }) => sum + totalTokens, 0),
    costUsd: sumUsd(calls.map(({ estimatedCostUsd = 0 }) => estimatedCostUsd)),
    guessedCostUsd: sumUsd(calls.filter(isGuess).map(({ estimatedCostUsd = 0 }) => estimatedCostUsd)),
    callsWithoutUsage: calls.filter(({ usage }) => usage === "missing").length,
    latencyMs: timed.length === 0 ? undefined : timed.reduce((sum, ms) => sum + ms, 0) / timed.length
  }
}

/** Whether it voted for what the decision is about; undefined when it did neither. */
const voteOf = (participantId: string, { decision, participants, policy }: RunState): boolean | undefined => {
  if (decision.current?.finalized !== true) return undefined
  const tally = policy.voteTally ?? []
  const about = tally.findIndex(({ commitmentId }) => commitmentId === decision.current?.proposalId)
  const words = policy.lastWords?.[about < 0 && tally.length === 1 ? 0 : about]
  const letter = words?.[participants.findIndex((participant) => participant.participantId === participantId)]
  return letter === "a" ? true : letter === "d" ? false : undefined
}
