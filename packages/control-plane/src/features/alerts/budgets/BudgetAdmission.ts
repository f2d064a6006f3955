import * as PgClient from "@effect/sql-pg/PgClient"
import { budgetExhausted, type ExhaustedBudget, runQueryFields } from "@runplane/api"
import {
  AlertRule,
  type AlertTelemetry,
  isoTime,
  keysOf,
  nanoUsd,
  OTLP_RUNTIME_KIND,
  parseQuery,
  periodOf,
  scenarioOf,
  usdOfNano
} from "@runplane/domain"
import * as Cache from "effect/Cache"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import type { NewRun } from "../../../event-log/runs/NewRun.ts"
import { hasStatus, SCENARIO } from "../../../event-log/runs/RunColumns.ts"
import { conditionOf } from "../../../platform/postgres/search/QueryConditions.ts"
import { unnestRows } from "../../../platform/postgres/UnnestRows.ts"
import { RunMeaning } from "../../../queries/runs/RunSearch.ts"
import type { AdmissionCheck, AdmissionGuard } from "../../../runs/Admission.ts"
import { isSettled } from "./Reservations.ts"

/** A rule with admission is in force after this time in every process. Milliseconds. */
const RULES_TTL_MS = 1_000
/** The expected cost of a scenario is that of so many recent runs, and is used for so many milliseconds. */
const EXPECTED_OF = 50
const EXPECTED_TTL_MS = 30_000
const EXPECTED_SCENARIOS = 256

const decodeRule = Schema.decodeUnknownOption(Schema.fromJsonString(AlertRule))

const GIVEN_COLUMNS = {
  rule_id: "text",
  rule_name: "text",
  key: "text",
  label: "text",
  period: "text",
  ends_at: "timestamptz",
  bound: "float8",
  expected: "float8"
} as const

/** A budget that the run counts for. Amounts are billionths of a dollar. */
interface GivenRow {
  readonly rule_id: string
  readonly rule_name: string
  readonly key: string
  /** The key as the run writes it. */
  readonly label: string
  readonly period: string
  readonly ends_at: string
  readonly bound: number
  readonly expected: number
}

interface RefusedRow extends Omit<GivenRow, "ends_at"> {
  readonly ends_at: Date
  readonly spent: number
  readonly reserved: number
}

/**
 * Admission of new runs by budgets (docs/reference/alerts.md#admission). The transaction of a creation locks the rules
 * with admission, inserts the run, and reserves its expected cost in each rule that it matches. The lock lasts until
 * the commit, so each creation reads the reservations of the ones before it. The evaluator releases a reservation when
 * it has counted the whole log of the run. Without such rules a creation has no statement more.
 */
export const makeBudgetAdmission = Effect.gen(function* (): Effect.fn.Return<
  AdmissionGuard,
  never,
  PgClient.PgClient | RunMeaning
> {
  const sql = yield* PgClient.PgClient
  const meaning = yield* RunMeaning

  // A rule that the evaluator cannot evaluate must not fail the transactions of creations.
  const isAdmission = sql.literal("enabled AND error IS NULL AND rule ->> 'admission' = 'true'")

  const hasRules = yield* sql<{ readonly found: boolean }>`
    SELECT EXISTS (SELECT FROM alert_rules WHERE ${isAdmission}) AS found`.pipe(
    Effect.map(([row]) => row?.found === true),
    Effect.cachedWithTTL(RULES_TTL_MS)
  )

  /** The 90th percentile of the cost of the scenario's last runs, in billionths of a dollar. */
  const readCost = (scenario: string, runs: Fragment) =>
    Effect.map(
      sql<{ readonly cost: number | null }>`
        SELECT percentile_disc(0.9) WITHIN GROUP (ORDER BY m.estimated_cost_usd)::float8 AS cost
        FROM (SELECT id FROM runs r
              WHERE ${sql.literal(SCENARIO)} = ${scenario} AND ${hasStatus(sql, "ended", "r")} AND ${runs}
              ORDER BY r.created_at DESC LIMIT ${EXPECTED_OF}) recent
        JOIN run_metrics m ON m.run_id = recent.id`,
      ([row]) => nanoUsd(row?.cost ?? 0)
    )
  const readExpected = (scenario: string) =>
    Effect.all({
      count: readCost(scenario, sql`r.runtime_kind IS DISTINCT FROM ${OTLP_RUNTIME_KIND}`),
      act: readCost(scenario, sql`true`)
    })
  // A failed read is not kept: the next creation reads again.
  const expectedCosts = yield* Cache.makeWith(readExpected, {
    capacity: EXPECTED_SCENARIOS,
    timeToLive: (exit) => (Exit.isSuccess(exit) ? EXPECTED_TTL_MS : 0)
  })

  // NO KEY UPDATE: the evaluator can add counters of the rules meanwhile.
  const lockRules = Effect.map(
    sql<{ readonly rule: string }>`
      SELECT rule::text AS rule FROM alert_rules WHERE ${isAdmission} ORDER BY id FOR NO KEY UPDATE`,
    (rows) => rows.flatMap(({ rule }) => Option.toArray(decodeRule(rule)))
  )

  const matching = Effect.fnUntraced(function* (rules: ReadonlyArray<AlertRule>, runId: string) {
    const searched = rules.flatMap((rule) => {
      if (rule.match === "") return []
      const query = parseQuery(rule.match, runQueryFields)
      return Result.isSuccess(query) ? [{ rule, condition: conditionOf(sql, query.success, meaning) }] : []
    })
    const found = new Set(rules.filter(({ match }) => match === ""))
    for (const { condition, rule } of searched) {
      const rows = yield* sql`SELECT FROM runs r WHERE r.id = ${runId}::uuid AND ${condition}`
      if (rows.length > 0) found.add(rule)
    }
    return rules.filter((rule) => found.has(rule))
  })

  /** One statement, because creations of the same transaction do not wait for each other. */
  const reserve = (runId: string, given: ReadonlyArray<GivenRow>) =>
    Effect.map(
      sql<RefusedRow>`
        WITH figures AS MATERIALIZED (
          SELECT given.*,
                 coalesce((SELECT sum(c.value) FROM alert_counters c
                           WHERE c.rule_id = given.rule_id AND c.key = given.key AND c.period = given.period), 0) AS spent,
                 coalesce((SELECT sum(v.amount) FROM alert_reservations v
                           WHERE v.rule_id = given.rule_id AND v.key = given.key AND v.period = given.period
                             AND NOT ${isSettled(sql)}), 0) AS reserved
          FROM ${unnestRows(sql, given, GIVEN_COLUMNS, { ordinal: true })} AS given
        ), refused AS (
          SELECT * FROM figures WHERE spent + reserved + expected >= bound ORDER BY ordinal LIMIT 1
        ), reserved AS (
          INSERT INTO alert_reservations (rule_id, run_id, key, period, amount, created_at)
          SELECT rule_id, ${runId}::uuid, key, period, expected, now() FROM figures WHERE NOT EXISTS (SELECT FROM refused)
        )
        SELECT * FROM refused`,
      ([row]) => row
    )

  const admit = Effect.fnUntraced(function* (rules: ReadonlyArray<AlertRule>, run: NewRun, usual: Usual, at: number) {
    const matched = yield* matching(rules, run.id)
    const keyed = { ...run, scenarioRef: scenarioOf(run), source: run.sourceKind }
    const given = matched.flatMap((rule) => {
      const { end, key: period } = periodOf(rule.window, rule.zone, at)
      const expected =
        rule.expectedCostUsd === undefined ? usual[rule.telemetry ?? "count"] : nanoUsd(rule.expectedCostUsd)
      return keysOf(rule.per, keyed).map(({ key, label }) => ({
        rule_id: rule.id,
        rule_name: rule.name,
        key,
        label,
        period,
        ends_at: isoTime(end),
        bound: nanoUsd(rule.levels.at(-1)?.at ?? 0),
        expected
      }))
    })
    if (given.length === 0) return undefined
    return yield* reserve(run.id, given)
  })

  /** Guards runs while there are rules with admission. */
  return Effect.fnUntraced(function* (run: NewRun): Effect.fn.Return<AdmissionCheck | undefined, SqlError> {
    if (!(yield* hasRules)) return undefined
    const scenario = scenarioOf(run)
    const usual = scenario === undefined ? NOTHING_USUAL : yield* Cache.get(expectedCosts, scenario)
    let rules: ReadonlyArray<AlertRule> = []
    return {
      prepare: Effect.map(lockRules, (locked) => {
        rules = locked
      }),
      decide: Effect.gen(function* () {
        const row = yield* admit(rules, run, usual, yield* Clock.currentTimeMillis)
        return row && budgetExhausted(figuresOf(row))
      }),
      undo: Effect.asVoid(sql`DELETE FROM alert_reservations WHERE run_id = ${run.id}::uuid`)
    }
  })
})

/** The usual cost of a scenario by what a rule does with telemetry, in billionths of a dollar. */
type Usual = Readonly<Record<AlertTelemetry, number>>
const NOTHING_USUAL: Usual = { count: 0, act: 0 }

const figuresOf = (row: RefusedRow): ExhaustedBudget => ({
  rule: row.rule_id,
  name: row.rule_name,
  key: row.label,
  period: row.period,
  periodEndsAt: row.ends_at.toISOString(),
  limitUsd: usdOfNano(row.bound),
  spentUsd: usdOfNano(row.spent),
  reservedUsd: usdOfNano(row.reserved),
  expectedUsd: usdOfNano(row.expected)
})
