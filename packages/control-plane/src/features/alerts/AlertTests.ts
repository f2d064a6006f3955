import * as PgClient from "@effect/sql-pg/PgClient"
import {
  type AlertTest,
  type BadRequest,
  badRequest,
  type ChangedAlertRule,
  MAX_TESTED_FIRINGS,
  TESTED_DAYS
} from "@runplane/api"
import {
  type AlertRule,
  type CanonicalEvent,
  type CountedMark,
  decodeEventText,
  makePeriods,
  markOfMeasure,
  ruleProblem,
  type Sliced
} from "@runplane/domain"
import { inSlices, makeLongTurns, type TurnRefused } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type { SqlError } from "effect/sql/SqlError"
import { isCurrentMark } from "../../marks/CurrentMark.ts"
import { callsKeptMs } from "../../platform/CallsKept.ts"
import { Ids } from "../../platform/Ids.ts"
import { READ_BYTES } from "../../platform/postgres/BoundedRows.ts"
import { DatabaseClock } from "../../platform/postgres/DatabaseClock.ts"
import { makeAlertStep } from "./AlertStep.ts"
import { newFiring } from "./FiringWriter.ts"
import { makeMemoryStore, type TriedFiring } from "./MemoryStore.ts"
import { type MatchedRun, makeRuleMatches } from "./RuleMatches.ts"
import { makeSeqAt } from "./SeqAt.ts"

const PAGE = 1_000
/** Events, and marks, that one test reads, the latest ones of its days. */
const MOST_EVENTS = 200_000
/** Tests of one caller that run at the same time in a process. */
const TESTS_AT_ONCE = 1
const DAY_MS = 86_400_000
/** Id of a tested rule that its author has not named yet. */
const DRAFT_ID = "draft"

/**
 * Tries a rule over the last days (docs/reference/alerts.md#test): takes the steps of the live evaluator over a store
 * in memory. Nothing is stored in the database, nothing is sent.
 */
export class AlertTests extends Context.Service<
  AlertTests,
  {
    readonly run: (rule: AlertRule) => Effect.Effect<AlertTest, BadRequest | SqlError | TurnRefused>
    /** As `run`, for a rule that is not stored. */
    readonly runDraft: (draft: ChangedAlertRule) => Effect.Effect<AlertTest, BadRequest | SqlError | TurnRefused>
  }
>()("runplane/control-plane/AlertTests") {
  static readonly layer = Layer.effect(
    AlertTests,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const clock = yield* DatabaseClock
      const ids = yield* Ids
      const matchRuns = yield* makeRuleMatches
      const seqAt = yield* makeSeqAt
      const keptMs = yield* callsKeptMs
      const takeStep = yield* makeAlertStep({ periods: makePeriods(), keptMs }, inSlices)
      const turns = makeLongTurns("tests of alert rules", TESTS_AT_ONCE)

      const marksOf = (name: string | undefined, since: number) =>
        name === undefined
          ? Effect.succeed([])
          : Effect.map(
              sql<TestedMark>`
                SELECT m.run_id::text AS run_id, m.created_at AS at, telemetry_of_mark(m.author) AS telemetry,
                       round(coalesce(m.number, m.flag::int)::float8 * 1000000000) AS value
                FROM marks m WHERE ${isCurrentMark(sql, name)} AND coalesce(m.number, m.flag::int) IS NOT NULL
                  AND m.created_at >= ${new Date(since).toISOString()}::timestamptz
                ORDER BY m.created_at LIMIT ${MOST_EVENTS}`,
              (rows) => rows.map(countedMark(name))
            )

      /** The matching runs among these; what was read once is known. */
      const makeRunsOf = (rule: AlertRule) => {
        const known = new Map<string, MatchedRun | undefined>()
        return Effect.fnUntraced(function* (runIds: ReadonlySet<string>) {
          const unknown = [...runIds].filter((id) => !known.has(id))
          if (unknown.length > 0) {
            const found = yield* matchRuns(unknown, rule.match === "" ? [] : [rule.match])
            const failure = found.failures.get(rule.match)
            if (failure !== undefined) return yield* badRequest(`match: ${failure}`)
            for (const id of unknown) {
              const one = found.runs.get(id)
              known.set(id, one !== undefined && (rule.match === "" || one.matches.has(rule.match)) ? one : undefined)
            }
          }
          const matching = new Map<string, MatchedRun>()
          for (const id of runIds) {
            const run = known.get(id)
            if (run !== undefined) matching.set(id, run)
          }
          return matching
        })
      }

      const run = Effect.fn("AlertTests.run")(function* (rule: AlertRule) {
        const now = yield* clock.now
        const since = now - TESTED_DAYS * DAY_MS
        const rules = [{ rule, fromSeq: 0 }]
        const { firings, store } = makeMemoryStore()
        const runsOf = makeRunsOf(rule)
        let marks = yield* marksOf(markOfMeasure(rule.measure), since)

        /** Events, and the marks up to their time. */
        const take = Effect.fnUntraced(function* (events: ReadonlyArray<CanonicalEvent>, until: number) {
          const next = marks.findIndex(({ at }) => at > until)
          const due = next < 0 ? marks : marks.slice(0, next)
          marks = marks.slice(due.length)
          const runs = yield* runsOf(new Set<string>([...events, ...due].map(({ runId }) => runId)))
          const found = { runs, failures: new Map<string, string>() }
          const matching = events.filter(({ runId }) => runs.has(runId))
          yield* takeStep(store, { events: matching, marks: due, rules, found, now })
        })

        let after = yield* seqAt(since)
        let read = 0
        let isEnd = false
        while (!isEnd && read < MOST_EVENTS) {
          const rows = yield* sql<{ readonly seq: bigint | null; readonly event: string | null }>`
            SELECT seq, event FROM end_of_log(${BigInt(after)}, ${PAGE}, ${BigInt(READ_BYTES)})`
          const events = yield* inSlices(decodedEvents(rows))
          yield* take(
            events,
            events.reduce((last, { ts }) => Math.max(last, Date.parse(ts)), 0)
          )
          read += events.length
          isEnd = events.length === 0
          after = Number(rows.at(-1)?.seq ?? after)
          if (firings().length > MAX_TESTED_FIRINGS) break
        }
        if (isEnd) yield* take([], now)
        const listed = firings().slice(0, MAX_TESTED_FIRINGS)
        const newIds = yield* ids.uuids(Math.max(1, listed.length))
        const runs = yield* runsOf(new Set(listed.flatMap(({ firing: { runId } }) => runId ?? [])))
        return {
          since: new Date(since).toISOString(),
          until: new Date(now).toISOString(),
          events: read,
          complete: isEnd && firings().length <= MAX_TESTED_FIRINGS,
          firings: listed.map((one, number) => shown(newIds[number] ?? "", one, runs))
        } satisfies AlertTest
      }, turns.goOn)

      const runDraft = Effect.fnUntraced(function* (draft: ChangedAlertRule) {
        const { backfilling: _b, createdAt: _c, error: _e, id = DRAFT_ID, updatedAt: _u, ...fields } = draft
        const rule = { id, ...fields }
        const problem = ruleProblem(rule)
        return problem === undefined ? yield* run(rule) : yield* badRequest(problem)
      })
      return AlertTests.of({ run, runDraft })
    })
  )
}

interface TestedMark {
  readonly run_id: string
  readonly at: Date
  /** In billionths, as the marks of the live evaluator. */
  readonly value: number
  /** Source of the telemetry that stated it. */
  readonly telemetry: string | null
}

const countedMark =
  (name: string) =>
  ({ at, run_id, telemetry, value }: TestedMark): CountedMark => ({
    ...{ runId: run_id, name, at: at.getTime(), value, n: 1 },
    telemetrySource: telemetry ?? undefined
  })

function* decodedEvents(rows: ReadonlyArray<{ readonly event: string | null }>): Sliced<Array<CanonicalEvent>> {
  const events: Array<CanonicalEvent> = []
  for (const { event } of rows) {
    const decoded = event === null ? undefined : Result.getOrUndefined(decodeEventText(event))
    if (decoded !== undefined) events.push(decoded)
    yield
  }
  return events
}

const shown = (id: string, { endedAt, firing }: TriedFiring, runs: ReadonlyMap<string, MatchedRun>) => ({
  ...newFiring(id, firing, runs.get(firing.runId ?? "")),
  ...(endedAt !== undefined && {
    status: "resolved" as const,
    endsAt: new Date(endedAt).toISOString(),
    resolvedBy: "value" as const
  })
})
