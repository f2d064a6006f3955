import * as PgClient from "@effect/sql-pg/PgClient"
import type { AgentRecordQuery, AgentRecordsQuery, AgentVoteRecord, AgentVoteRecords } from "@runplane/api"
import {
  activePolicy,
  addGroupedVote,
  addSeat,
  agentRecord,
  agentVote,
  emptyGroups,
  emptySeat,
  groupRecords,
  policyReader,
  promptText,
  RECORD_TYPES,
  RunId,
  recordText,
  type SeatTally,
  SHADOW_ACTS,
  seatAnswers,
  seatRecord,
  seatText,
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
import { makeRecordsOfAll, noRegistry, withinEvents } from "./RecordsOfAll.ts"

/** What the record of a run knows about the votes in it. */
interface RecordRun extends BacktestRun {
  readonly prompt: string | undefined
  /** The Monday of its creation, UTC. */
  readonly week: string
}

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

      /** The latest decided runs in which the agent took part, or was a shadow, at most one more than the limit. */
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
            FROM (SELECT run_id FROM run_participants WHERE participant_id = ${participantId}
                  UNION SELECT run_id FROM artifacts WHERE kind = ${SHADOW_ACTS} AND label = ${participantId}) p
            JOIN runs r ON r.id = p.run_id JOIN run_heads h ON h.run_id = r.id
            WHERE ${since === undefined ? sql`true` : sql`r.created_at >= ${since}::timestamptz`}
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
          const answers = seatAnswers(run, participantId)
          const { policyVersion, runId } = run
          return vote === undefined && answers === undefined
            ? []
            : [{ runId, vote, truth, answers, model: models?.join(", "), policyVersion }]
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
        let seat: SeatTally | undefined
        for (const group of groupsOf(examined)) {
          const votes = (yield* votesOf(participantId, group, read)).flat()
          // The latest run first, so that the groups are in that order.
          const byRun = new Map(votes.map((vote) => [vote.runId, vote]))
          for (const runId of group) {
            const found = byRun.get(runId)
            if (found === undefined) continue
            const { answers, model, policyVersion, truth, vote } = found
            const { prompt, week } = byId.get(runId) ?? {}
            if (vote !== undefined) tally = addGroupedVote(tally, vote, truth, { prompt, model, policyVersion, week })
            if (answers !== undefined) seat = addSeat(seat ?? emptySeat, answers, vote, truth)
          }
        }
        const summary = recordText(tally, {
          isCut,
          ...(query.since !== undefined && { since: query.since.slice(0, 10) })
        })
        return {
          participantId,
          examined: examined.length,
          ...agentRecord(tally.all),
          truncated: isCut,
          summary: seat === undefined ? summary : `${summary} ${seatText(seat)}`,
          ...(seat !== undefined && { seat: seatRecord(seat) }),
          ...(by !== undefined && { by: groupRecords(tally, by), olderGroups: tally.older[by].runs })
        }
      })
      return AgentRecords.of({ record, records: yield* makeRecordsOfAll })
    })
  )
}
