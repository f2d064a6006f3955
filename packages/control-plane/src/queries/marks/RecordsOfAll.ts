import * as PgClient from "@effect/sql-pg/PgClient"
import { type AgentRecordsQuery, MAX_RECORDED_AGENTS, MAX_RECORDED_VOTERS } from "@runplane/api"
import {
  type AgentTally,
  activePolicy,
  addSeat,
  addVote,
  agentRecord,
  agentVotes,
  emptySeat,
  emptyTally,
  policyReader,
  RECORD_TYPES,
  RunId,
  type SeatTally,
  seatAnswers,
  seatRecord,
  truthOf
} from "@runplane/domain"
import * as Effect from "effect/Effect"
import { SearchBudget } from "../../platform/postgres/search/SearchBudget.ts"
import { type BacktestRun, BacktestRuns, groupsOf } from "../decisions/BacktestRuns.ts"
import { DecisionReader } from "../decisions/DecisionReader.ts"
import { DecisionTruths } from "../decisions/DecisionTruths.ts"
import { RunMeaning, runsFound } from "../runs/RunSearch.ts"

/** Events in the logs of one record; a larger first run is read alone. */
const MAX_EVENTS = 500_000

/** The first runs whose logs have that many events together. */
export const withinEvents = <Run extends BacktestRun>(runs: ReadonlyArray<Run>): ReadonlyArray<Run> => {
  let events = 0
  const end = runs.findIndex((run) => {
    events += run.events
    return events > MAX_EVENTS
  })
  return end === -1 ? runs : runs.slice(0, Math.max(1, end))
}

/** The votes of a run count under the rules that its log has. */
export const noRegistry = () => undefined

/** The records of all agents over the same runs (docs/reference/marks.md#records): each run is read once. */
export const makeRecordsOfAll = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const budget = yield* SearchBudget
  const meaning = yield* RunMeaning
  const reader = yield* DecisionReader
  const runs = yield* BacktestRuns
  const truths = yield* DecisionTruths

  /** The latest decided runs of a search, at most one more than the limit. */
  const decidedRuns = ({ limit, q, since }: AgentRecordsQuery) =>
    Effect.map(
      sql<{ readonly id: string; readonly events: number }>`
        SELECT r.id::text AS id, h.last_index AS events FROM runs r JOIN run_heads h ON h.run_id = r.id
        WHERE ${since === undefined ? sql`true` : sql`r.created_at >= ${since}::timestamptz`}
          AND EXISTS (SELECT FROM key_events d WHERE d.run_id = r.id AND d.type = 'decision.finalized')
          AND ${runsFound(sql, meaning, q, sql`r.id`)}
        ORDER BY r.created_at DESC, r.id DESC LIMIT ${BigInt(limit + 1)}`,
      (rows) => rows.map(({ events, id }): BacktestRun => ({ runId: RunId.make(id), events }))
    )

  const votesOfAll = Effect.fnUntraced(function* (group: ReadonlyArray<RunId>, read: ReturnType<typeof policyReader>) {
    const marks = yield* truths.ofRuns(group)
    const found = yield* runs.evaluate(group, RECORD_TYPES, (run) => {
      const voteOf = agentVotes(run, activePolicy(run, noRegistry, read))
      const truth = truthOf(marks.get(run.runId) ?? [], run)
      return [...run.participants.slice(0, MAX_RECORDED_VOTERS), ...run.shadows.keys()].flatMap((participantId) => {
        const vote = voteOf(participantId)
        const answers = seatAnswers(run, participantId)
        return vote === undefined && answers === undefined ? [] : [{ participantId, vote, truth, answers }]
      })
    })
    return found.flat()
  }, reader.turns.goOn)

  return Effect.fn("AgentRecords.records")(function* (query: AgentRecordsQuery) {
    const found = yield* budget.inTurn(budget.limited(decidedRuns(query)))
    const examined = withinEvents(found.slice(0, query.limit))
    const read = policyReader()
    const tallies = new Map<string, AgentTally>()
    const seats = new Map<string, SeatTally>()
    for (const group of groupsOf(examined)) {
      for (const { answers, participantId, truth, vote } of yield* votesOfAll(group, read)) {
        const so = tallies.get(participantId) ?? emptyTally
        tallies.set(participantId, vote === undefined ? so : addVote(so, vote, truth))
        if (answers !== undefined) {
          seats.set(participantId, addSeat(seats.get(participantId) ?? emptySeat, answers, vote, truth))
        }
      }
    }
    const sorted = [...tallies].toSorted(
      ([id, one], [otherId, other]) => other.runs - one.runs || (id < otherId ? -1 : 1)
    )
    return {
      data: sorted.slice(0, MAX_RECORDED_AGENTS).map(([participantId, tally]) => {
        const { reliability: _, ...record } = agentRecord(tally)
        const seat = seats.get(participantId)
        return { participantId, ...record, ...(seat !== undefined && { seat: seatRecord(seat) }) }
      }),
      examined: examined.length,
      truncated: examined.length < found.length || sorted.length > MAX_RECORDED_AGENTS
    }
  })
})
