import * as PgClient from "@effect/sql-pg/PgClient"
import {
  activePolicy,
  type CanonicalEvent,
  type Deliberation,
  decodeEventText,
  deliberationReader,
  forecastInSlices,
  type RunMemory,
  type Sliced
} from "@runplane/domain"
import { inSlices } from "@runplane/server"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"

/** Types of events after which the forecast of a run can be another one. */
const CHANGING: ReadonlySet<string> = new Set([
  "proposal.created",
  "proposal.updated",
  "decision.finalized",
  "policy.resolved",
  "session.bound",
  "session.state.changed"
])

/** Events of a run that a forecast reads; a longer run counts as still open. */
const MOST_EVENTS = 5_000

/**
 * Finds the events after which no positive outcome of their run is possible any more. Reads the whole log of a run, so
 * it is for runs that a rule of this measure matches.
 */
export const makeOutOfReach = Effect.map(PgClient.PgClient, (sql) => {
  return Effect.fnUntraced(function* (runId: string, memory: RunMemory, events: ReadonlyArray<CanonicalEvent>) {
    const changing = events.filter(({ type }) => CHANGING.has(type))
    const last = changing.at(-1)
    if (last === undefined || memory.isOutOfReach === true) return undefined
    const rows = yield* sql<{ readonly event: string }>`
      SELECT event::text AS event FROM canonical_events
      WHERE run_id = ${runId}::uuid AND seq <= ${BigInt(last.seq)} ORDER BY seq LIMIT ${MOST_EVENTS + 1}`
    if (rows.length > MOST_EVENTS) return undefined
    const seqs = new Set(changing.map(({ seq }) => seq))
    return yield* inSlices(firstOutOfReach(rows, seqs))
  })
})

/** The first of these seqs after which no positive outcome is possible. */
function* firstOutOfReach(
  rows: ReadonlyArray<{ readonly event: string }>,
  seqs: ReadonlySet<number>
): Sliced<number | undefined> {
  const reader = deliberationReader()
  for (const { event: text } of rows) {
    yield
    const event = Result.getOrUndefined(decodeEventText(text))
    if (event === undefined) continue
    reader.take(event)
    if (seqs.has(event.seq) && (yield* hasNoPositive(reader.read()))) return event.seq
  }
  return undefined
}

/** Whether every positive outcome that the rules know is impossible. */
function* hasNoPositive(run: Deliberation): Sliced<boolean> {
  const { outcomes } = yield* forecastInSlices(run, activePolicy(run))
  const positive = outcomes.filter(({ outcome }) => outcome === "positive")
  return positive.length > 0 && positive.every(({ status }) => status === "impossible")
}
