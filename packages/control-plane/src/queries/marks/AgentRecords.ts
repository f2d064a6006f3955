import * as PgClient from "@effect/sql-pg/PgClient"
import {
  type AgentRecordQuery,
  type AgentRecordsQuery,
  type AgentVoteRecord,
  type AgentVoteRecords,
  MAX_RECORDED_AGENTS,
  MAX_RECORDED_SEATS
} from "@runplane/api"
import {
  type AgentTally,
  activePolicy,
  addGroupedVote,
  addVote,
  agentRecord,
  agentVote,
  agentVotes,
  emptyGroups,
  emptyTally,
  groupRecords,
  policyReader,
  promptText,
  RECORD_TYPES,
  RunId,
  recordText,
  truthOf
} from "@runplane/domain"
import type { TurnRefused } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { SearchBudget, type SearchFailure } from "../../platform/postgres/search/SearchBudget.ts"
import { type BacktestRun, BacktestRuns, groupsOf } from "../decisions/BacktestRuns.ts"
import { DecisionReader } from "../decisions/DecisionReader.ts"
import { DecisionTruths } from "../decisions/DecisionTruths.ts"
import { RunMeaning, runsFound } from "../runs/RunSearch.ts"

/** Events in the logs of one record; a larger first run is read alone. */
const MAX_EVENTS = 500_000

/** What the record of a run knows about the votes in it. */
interface RecordRun extends BacktestRun {
  readonly prompt: string | undefined
  /** The Monday of its creation, UTC. */
  readonly week: string
}

/** The first runs whose logs have that many events together. */
const withinEvents = <Run extends BacktestRun>(runs: ReadonlyArray<Run>): ReadonlyArray<Run> => {
  let events = 0
  const end = runs.findIndex((run) => {
    events += run.events
    return events > MAX_EVENTS
  })
  return end === -1 ? runs : runs.slice(0, Math.max(1, end))
}

/** The votes of a run count under the rules that its log has. */
const noRegistry = () => undefined

/**
 * How often the votes of an agent were right (docs/reference/marks.md#record). The logs of its runs are read in groups,
 * in turns by caller, so that the memory does not depend on the number of runs.
 */
export class AgentRecords extends Context.Service<
  AgentRecords,
  {
    readonly record: (
      participantId: string,
      query: AgentRecordQuery
    ) => Effect.Effect<AgentVoteRecord, SqlError | SearchFailure | TurnRefused>
    /** The records of all agents over the same runs, without their groups. */
    readonly records: (
      query: AgentRecordsQuery
    ) => Effect.Effect<AgentVoteRecords, SqlError | SearchFailure | TurnRefused>
  }
>()("runplane/control-plane/AgentRecords") {
  static readonly layer = Layer.effect(
    AgentRecords,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const budget = yield* SearchBudget
      const meaning = yield* RunMeaning
      const reader = yield* DecisionReader
      const runs = yield* BacktestRuns
      const truths = yield* DecisionTruths

      /** The latest decided runs in which the agent took part, at most one more than the limit. */
      const inScope = (participantId: string, { limit, q, since }: AgentRecordQuery) =>
        Effect.map(
          sql<{
            readonly id: string
            readonly events: number
            readonly week: string
            readonly name: string | null
            readonly version: string | null
            readonly hash: string | null
          }>`
            SELECT r.id::text AS id, h.last_index AS events,
                   to_char(date_trunc('week', r.created_at AT TIME ZONE 'UTC'), 'YYYY-MM-DD') AS week,
                   left(r.metadata ->> 'promptName', 200) AS name, left(r.metadata ->> 'promptVersion', 200) AS version,
                   left(r.metadata ->> 'promptHash', 200) AS hash
            FROM run_participants p JOIN runs r ON r.id = p.run_id JOIN run_heads h ON h.run_id = r.id
            WHERE p.participant_id = ${participantId}
              AND ${since === undefined ? sql`true` : sql`r.created_at >= ${since}::timestamptz`}
              AND EXISTS (SELECT FROM key_events d WHERE d.run_id = r.id AND d.type = 'decision.finalized')
              AND ${runsFound(sql, meaning, q, sql`r.id`)}
            ORDER BY r.created_at DESC, r.id DESC LIMIT ${BigInt(limit + 1)}`,
          (rows) =>
            rows.map(
              ({ events, id, week, ...prompt }): RecordRun => ({
                runId: RunId.make(id),
                events,
                week,
                prompt: promptText(prompt)
              })
            )
        )

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

      const votesOfAll = Effect.fnUntraced(function* (
        group: ReadonlyArray<RunId>,
        read: ReturnType<typeof policyReader>
      ) {
        const marks = yield* truths.ofRuns(group)
        const found = yield* runs.evaluate(group, RECORD_TYPES, (run) => {
          const voteOf = agentVotes(run, activePolicy(run, noRegistry, read))
          const truth = truthOf(marks.get(run.runId) ?? [], run)
          return run.participants.slice(0, MAX_RECORDED_SEATS).flatMap((participantId) => {
            const vote = voteOf(participantId)
            return vote === undefined ? [] : [{ participantId, vote, truth }]
          })
        })
        return found.flat()
      }, reader.turns.goOn)

      const records = Effect.fn("AgentRecords.records")(function* (query: AgentRecordsQuery) {
        const found = yield* budget.inTurn(budget.limited(decidedRuns(query)))
        const examined = withinEvents(found.slice(0, query.limit))
        const read = policyReader()
        const tallies = new Map<string, AgentTally>()
        for (const group of groupsOf(examined)) {
          for (const { participantId, truth, vote } of yield* votesOfAll(group, read)) {
            tallies.set(participantId, addVote(tallies.get(participantId) ?? emptyTally, vote, truth))
          }
        }
        const sorted = [...tallies].toSorted(
          ([id, one], [otherId, other]) => other.runs - one.runs || (id < otherId ? -1 : 1)
        )
        return {
          data: sorted.slice(0, MAX_RECORDED_AGENTS).map(([participantId, tally]) => {
            const { reliability: _, ...record } = agentRecord(tally)
            return { participantId, ...record }
          }),
          examined: examined.length,
          truncated: examined.length < found.length || sorted.length > MAX_RECORDED_AGENTS
        }
      })

      const votesOf = Effect.fnUntraced(function* (
        participantId: string,
        group: ReadonlyArray<RunId>,
        read: ReturnType<typeof policyReader>
      ) {
        const marks = yield* truths.ofRuns(group)
        return yield* runs.evaluate(group, RECORD_TYPES, (run) => {
          const vote = agentVote(run, activePolicy(run, noRegistry, read), participantId)
          const truth = truthOf(marks.get(run.runId) ?? [], run)
          const models = run.models.get(participantId)
          return vote === undefined
            ? []
            : [{ runId: run.runId, vote, truth, model: models?.join(", "), policyVersion: run.policyVersion }]
        })
      }, reader.turns.goOn)

      const record = Effect.fn("AgentRecords.record")(function* (participantId: string, query: AgentRecordQuery) {
        const found = yield* budget.inTurn(budget.limited(inScope(participantId, query)))
        const examined = withinEvents(found.slice(0, query.limit))
        const isCut = examined.length < found.length
        const { by } = query
        const read = policyReader()
        const byId = new Map<string, RecordRun>(examined.map((run) => [run.runId, run]))
        let tally = emptyGroups
        for (const group of groupsOf(examined)) {
          const votes = (yield* votesOf(participantId, group, read)).flat()
          // The latest run first, so that the groups are in that order.
          const byRun = new Map(votes.map((vote) => [vote.runId, vote]))
          for (const runId of group) {
            const found = byRun.get(runId)
            if (found === undefined) continue
            const { model, policyVersion, truth, vote } = found
            const { prompt, week } = byId.get(runId) ?? {}
            tally = addGroupedVote(tally, vote, truth, { prompt, model, policyVersion, week })
          }
        }
        return {
          participantId,
          examined: examined.length,
          ...agentRecord(tally.all),
          truncated: isCut,
          summary: recordText(tally, { isCut, ...(query.since !== undefined && { since: query.since.slice(0, 10) }) }),
          ...(by !== undefined && { by: groupRecords(tally, by), olderGroups: tally.older[by].runs })
        }
      })
      return AgentRecords.of({ record, records })
    })
  )
}
