import * as PgClient from "@effect/sql-pg/PgClient"
import { isoTime } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { makeRuleMatches } from "./RuleMatches.ts"

/** The silences of runs (docs/reference/alerts.md#silences). */
export const makeSilences = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const matchRuns = yield* makeRuleMatches

  /**
   * Returns when the last silence of a run ends, Unix milliseconds, and undefined for a run without one. A firing
   * without a run has the silences of all runs.
   */
  const readSilences = Effect.fnUntraced(function* (runIds: ReadonlyArray<string>, now: number) {
    const rows = yield* sql<{ readonly match: string; readonly until: Date }>`
      SELECT match, max(until) AS until FROM alert_silences
      WHERE until > ${isoTime(now)}::timestamptz GROUP BY match`
    if (rows.length === 0) return () => undefined
    const ends = new Map(rows.map(({ match, until }) => [match, until.getTime()]))
    const { runs } = yield* matchRuns(
      runIds,
      [...ends.keys()].filter((match) => match !== "")
    )
    return (runId: string | undefined): number | undefined => {
      const own = [...(runs.get(runId ?? "")?.matches ?? []), ""].flatMap((match) => ends.get(match) ?? [])
      return own.length === 0 ? undefined : Math.max(...own)
    }
  })

  /** Compares the open firings with the silences at the next step. In a transaction that holds the cursor. */
  const recheck = (at: string) => sql`
    UPDATE alert_firings SET check_at = ${at}::timestamptz
    WHERE resolved_at IS NULL AND (NOT silenced OR check_at IS NOT NULL)`

  return { readSilences, recheck }
})
