import * as PgClient from "@effect/sql-pg/PgClient"
import { type AlertTest, type BadRequest, badRequest, MAX_TESTED_FIRINGS, TESTED_DAYS } from "@runplane/api"
import {
  type AlertRule,
  byMeasure,
  type CanonicalEvent,
  decodeEventText,
  entriesOfEvent,
  entriesOfMark,
  makePeriods,
  makeRuleEvaluator,
  markOfMeasure,
  measureOf,
  type NewFiring,
  noMemory,
  type RunMemory,
  remember,
  type Sliced
} from "@runplane/domain"
import { inSlices, makeLongTurns, type TurnRefused } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type { SqlError } from "effect/sql/SqlError"
import { isCurrentMark } from "../../event-log/runs/RunSearch.ts"
import { callsKeptMs } from "../../platform/CallsKept.ts"
import { Ids } from "../../platform/Ids.ts"
import { READ_BYTES } from "../../platform/postgres/BoundedRows.ts"
import { DatabaseClock } from "../../platform/postgres/DatabaseClock.ts"
import { newFiring } from "./FiringWriter.ts"
import { makeOutOfReach } from "./OutOfReach.ts"
import { type MatchedRun, makeRuleMatches } from "./RuleMatches.ts"
import { makeSeqAt } from "./SeqAt.ts"

const PAGE = 1_000
/** Events, and marks, that one test reads, the latest ones of its days. */
const MOST_EVENTS = 200_000
/** Tests of one caller that run at the same time in a process. */
const TESTS_AT_ONCE = 1
const DAY_MS = 86_400_000

/** Evaluates a rule over the last days without storing or sending anything (docs/reference/alerts.md#test). */
export class AlertTests extends Context.Service<
  AlertTests,
  { readonly run: (rule: AlertRule) => Effect.Effect<AlertTest, BadRequest | SqlError | TurnRefused> }
>()("runplane/control-plane/AlertTests") {
  static readonly layer = Layer.effect(
    AlertTests,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const clock = yield* DatabaseClock
      const ids = yield* Ids
      const matchRuns = yield* makeRuleMatches
      const outOfReach = yield* makeOutOfReach
      const seqAt = yield* makeSeqAt
      const keptMs = yield* callsKeptMs
      const turns = makeLongTurns("tests of alert rules", TESTS_AT_ONCE)

      const marksOf = (name: string | undefined, since: number) =>
        name === undefined
          ? Effect.succeed([])
          : sql<TestedMark>`
              SELECT m.run_id::text AS run_id, m.created_at AS at, coalesce(m.number, m.flag::int)::float8 AS value,
                     telemetry_of_mark(m.author) AS telemetry
              FROM marks m WHERE ${isCurrentMark(sql, name)} AND coalesce(m.number, m.flag::int) IS NOT NULL
                AND m.created_at >= ${new Date(since).toISOString()}::timestamptz
              ORDER BY m.created_at LIMIT ${MOST_EVENTS}`

      const run = Effect.fn("AlertTests.run")(function* (rule: AlertRule) {
        const now = yield* clock.now
        const since = now - TESTED_DAYS * DAY_MS
        const rules = byMeasure([rule])
        const periods = makePeriods()
        const evaluator = makeRuleEvaluator(new Map([[rule.id, rule]]), [], [], keptMs)
        const memories = new Map<string, RunMemory>()
        const runs = new Map<string, MatchedRun | undefined>()
        const name = markOfMeasure(rule.measure)
        const marks = [...(yield* marksOf(name, since))].reverse()

        const learn = Effect.fnUntraced(function* (runIds: ReadonlyArray<string>) {
          const unknown = runIds.filter((id) => !runs.has(id))
          if (unknown.length === 0) return
          const found = yield* matchRuns(unknown, rule.match === "" ? [] : [rule.match])
          const failure = found.failures.get(rule.match)
          if (failure !== undefined) return yield* badRequest(`match: ${failure}`)
          for (const id of unknown) {
            const one = found.runs.get(id)
            runs.set(id, one !== undefined && (rule.match === "" || one.matches.has(rule.match)) ? one : undefined)
          }
        })
        yield* learn([...new Set(marks.map(({ run_id }) => run_id))])

        const takeMarks = (until: number) => {
          for (let mark = marks.at(-1); mark !== undefined && mark.at.getTime() <= until; mark = marks.at(-1)) {
            marks.pop()
            const one = runs.get(mark.run_id)
            if (one === undefined || name === undefined) continue
            const value = Math.round(mark.value * 1e9)
            const telemetrySource = mark.telemetry ?? undefined
            const counted = { runId: one.id, name, at: mark.at.getTime(), value, n: 1, telemetrySource }
            for (const entry of entriesOfMark(rules, one, counted, periods)) evaluator.take(entry)
          }
        }
        const take = (event: CanonicalEvent, reached: number | undefined) => {
          takeMarks(Date.parse(event.ts))
          const one = runs.get(event.runId)
          if (one === undefined) return
          const memory = memories.get(event.runId) ?? noMemory()
          memories.set(event.runId, memory)
          const facts = remember(memory, event)
          for (const entry of entriesOfEvent(rules, one, event, facts, reached === event.seq, { periods, keptMs })) {
            evaluator.take(entry)
          }
        }

        let after = yield* seqAt(since)
        let read = 0
        let isEnd = false
        while (!isEnd && read < MOST_EVENTS) {
          const rows = yield* sql<{ readonly seq: bigint | null; readonly event: string | null }>`
            SELECT seq, event FROM end_of_log(${BigInt(after)}, ${PAGE}, ${BigInt(READ_BYTES)})`
          const events = yield* inSlices(decodedEvents(rows))
          yield* learn([...new Set(events.map(({ runId }) => runId as string))])
          const reached = new Map<string, number>()
          if (measureOf(rule.measure).needsForecast === true) {
            for (const [runId, own] of Map.groupBy(events, (event) => event.runId as string)) {
              const memory = memories.get(runId) ?? noMemory()
              memories.set(runId, memory)
              const seq = runs.get(runId) === undefined ? undefined : yield* outOfReach(runId, memory, own)
              if (seq === undefined) continue
              memory.isOutOfReach = true
              reached.set(runId, seq)
            }
          }
          yield* inSlices(takenEvents(events, (event) => take(event, reached.get(event.runId))))
          read += events.length
          isEnd = events.length === 0
          after = Number(rows.at(-1)?.seq ?? after)
          if (evaluator.firingCount() > MAX_TESTED_FIRINGS) break
        }
        if (isEnd) takeMarks(now)
        const { firings, resolutions } = evaluator.result()
        const listed = firings.slice(0, MAX_TESTED_FIRINGS)
        const newIds = yield* ids.uuids(Math.max(1, listed.length))
        const ended = new Map(resolutions.map(({ at, firing }) => [firing, at] as const))
        return {
          since: new Date(since).toISOString(),
          until: new Date(now).toISOString(),
          events: read,
          complete: isEnd && firings.length <= MAX_TESTED_FIRINGS,
          firings: listed.map((firing, number) => shown(newIds[number] ?? "", firing, runs, ended.get(firing)))
        } satisfies AlertTest
      }, turns.goOn)
      return AlertTests.of({ run })
    })
  )
}

interface TestedMark {
  readonly run_id: string
  readonly at: Date
  readonly value: number
  /** Source of the telemetry that stated it. */
  readonly telemetry: string | null
}

function* decodedEvents(rows: ReadonlyArray<{ readonly event: string | null }>): Sliced<Array<CanonicalEvent>> {
  const events: Array<CanonicalEvent> = []
  for (const { event } of rows) {
    const decoded = event === null ? undefined : Result.getOrUndefined(decodeEventText(event))
    if (decoded !== undefined) events.push(decoded)
    yield
  }
  return events
}

function* takenEvents(events: ReadonlyArray<CanonicalEvent>, take: (event: CanonicalEvent) => void): Sliced<void> {
  for (const event of events) {
    take(event)
    yield
  }
}

const shown = (
  id: string,
  firing: NewFiring,
  runs: ReadonlyMap<string, MatchedRun | undefined>,
  endedAt: number | undefined
) => ({
  ...newFiring(id, firing, runs.get(firing.runId ?? "")),
  ...(endedAt !== undefined && {
    status: "resolved" as const,
    endsAt: new Date(endedAt).toISOString(),
    resolvedBy: "value" as const
  })
})
