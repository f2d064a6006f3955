import type * as PgClient from "@effect/sql-pg/PgClient"
import { isTerminal, RunStatus } from "@runplane/domain"
import type { Fragment } from "effect/sql/Statement"

const STATUSES: Readonly<Record<"opening" | "unfinished" | "ended", ReadonlyArray<RunStatus>>> = {
  opening: ["queued", "starting", "binding_session"],
  unfinished: RunStatus.literals.filter((status) => !isTerminal(status)),
  ended: RunStatus.literals.filter(isTerminal)
}

/** Whether the column `status` of a row has one of these statuses, as literals, so that partial indexes apply. */
export const hasStatus = (sql: PgClient.PgClient, statuses: keyof typeof STATUSES, row?: string): Fragment => {
  const column = row === undefined ? "status" : `${row}.status`
  return sql.literal(`${column} IN (${STATUSES[statuses].map((status) => `'${status}'`).join(", ")})`)
}

/** The scenario of a run `r` (docs/reference/runs.md#scenario). The same expression as the index `runs_scenario`. */
export const SCENARIO = "scenario_of(r.runtime_kind, r.scenario_ref, r.source_ref)"

/** Milliseconds from start to end of a run `r`; -1 without. The same expression as its index `runs_duration`. */
export const DURATION =
  "(CASE WHEN r.ended_at < r.started_at THEN 0 ELSE coalesce(extract(epoch FROM r.ended_at - r.started_at) * 1000, -1) END)"

/**
 * The case of a run `r` whose subject has this SHA-256: that of its gate, else its scenario without the version with
 * the subject. Null without a gate and a subject.
 */
export const caseKey = (subject: string): string => `CASE
  WHEN r.metadata -> 'gate' ->> 'case' IS NOT NULL OR ${subject} IS NOT NULL THEN left(encode(sha256(convert_to(concat_ws(E'\\n',
    regexp_replace(coalesce(${SCENARIO}, ''), '@[^@/]*$', ''),
    coalesce('gate ' || (r.metadata -> 'gate' ->> 'case'), ${subject})), 'UTF8')), 'hex'), 32) END`
