import * as PgClient from "@effect/sql-pg/PgClient"
import type { AlertRule, RunMemory } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type RuleRow, ruleColumns, storedRule } from "../AlertRows.ts"
import type { StepInput } from "../AlertStep.ts"
import { readLog, type StepParts } from "./Steps.ts"

/** A step of a rule over older events. */
interface BackfillStep {
  readonly row: RuleRow
  readonly input: StepInput
  readonly memories: Map<string, RunMemory>
  readonly upTo: number
  /** Whether this process begins with the first event of the rule. */
  readonly isNew: boolean
}

/** Counts older events for a rule that was added with `backfill`, a step at a time (docs/reference/alerts.md). */
export const makeBackfills = Effect.fnUntraced(function* ({ rules, stores, takeStep }: StepParts) {
  const sql = yield* PgClient.PgClient
  /** Processes that fold older events for a new rule begin with its first event: the memories are only here. */
  const memoriesOf = new Map<string, Map<string, RunMemory>>()

  const nextRule = Effect.map(
    sql<RuleRow>`
      SELECT ${ruleColumns(sql)} FROM alert_rules
      WHERE enabled AND error IS NULL AND backfill_seq IS NOT NULL ORDER BY id LIMIT 1`,
    ([row]) => row
  )

  const write = Effect.fnUntraced(function* ({ input, isNew, memories, row, upTo }: BackfillStep) {
    const [locked] = yield* sql<{ readonly seq: bigint }>`SELECT seq FROM alert_cursor FOR UPDATE`
    const [same] = yield* sql`
      SELECT FROM alert_rules WHERE id = ${row.id} AND backfill_seq = ${row.backfill_seq} FOR UPDATE`
    if (same === undefined) return
    if (isNew) {
      yield* sql`DELETE FROM alert_counters WHERE rule_id = ${row.id}`
      yield* sql`DELETE FROM alert_amounts WHERE rule_id = ${row.id}`
      yield* sql`DELETE FROM alert_paces WHERE rule_id = ${row.id}`
    }
    const silentSeq = Number(row.silent_seq)
    yield* takeStep(stores.backfill(memories, silentSeq, input.now), input)
    const isDone = Number(locked?.seq ?? 0) === upTo && upTo >= silentSeq
    yield* sql`
      UPDATE alert_rules SET backfill_seq = ${isDone ? null : BigInt(upTo)}::bigint,
                             from_seq = ${isDone ? BigInt(upTo) : row.from_seq}
      WHERE id = ${row.id}`
    if (isDone) yield* sql`UPDATE alert_cursor SET rules_version = rules_version + 1`
  }, sql.withTransaction)

  const stepOf = Effect.fnUntraced(function* (row: RuleRow, rule: AlertRule, cursor: number, now: number) {
    const name = `${row.id} ${row.updated_at.getTime()}`
    const memories = memoriesOf.get(name) ?? new Map<string, RunMemory>()
    const isNew = !memoriesOf.has(name)
    memoriesOf.set(name, memories)
    const read = yield* readLog(sql, isNew ? Number(row.from_seq) : Number(row.backfill_seq))
    const upTo = Math.min(read.upTo, cursor)
    const events = read.events.filter(({ seq }) => seq <= upTo)
    const active = [{ rule, fromSeq: Number(row.from_seq) }]
    const found = yield* rules.matchesOf([...new Set(events.map(({ runId }) => runId))], active)
    const input: StepInput = { events, marks: [], rules: active, found, now }
    return { row, input, memories, upTo, isNew } satisfies BackfillStep
  })

  /** One step of the first rule that counts older events, up to the cursor of the evaluator. */
  return Effect.fnUntraced(function* (cursor: number, now: number) {
    const row = yield* nextRule
    if (row === undefined) return memoriesOf.clear()
    const rule = storedRule(row)
    if (Result.isFailure(rule)) return yield* rules.fail(row.id, rule.failure)
    const step = yield* stepOf(row, rule.success, cursor, now)
    if (step.input.found.failures.size === 0) yield* write(step)
  })
})
