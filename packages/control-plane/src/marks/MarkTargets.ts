import * as PgClient from "@effect/sql-pg/PgClient"
import { badRequest } from "@runplane/api"
import { isUuid, type MarkTarget, type RunId, targetEventTypes, targetProblem } from "@runplane/domain"
import * as Effect from "effect/Effect"

/** A target that exists, with the index of its event. */
export interface ResolvedTarget {
  readonly target: MarkTarget
  readonly index?: number
}

interface EventRow {
  readonly id: string
  readonly index: number
}

/** Finds the targets of marks in their run (docs/reference/marks.md#targets). */
export const makeMarkTargets = Effect.map(PgClient.PgClient, (sql) => {
  const lastDecision = Effect.fnUntraced(function* (runId: RunId) {
    const [event] = yield* sql<EventRow>`
      SELECT event->>'id' AS id, index FROM canonical_events
      WHERE run_id = ${runId}::uuid AND type = ${targetEventTypes.decision} ORDER BY seq DESC LIMIT 1`
    return event && eventTarget("decision", event)
  })

  // The stored text of an event begins with its id; a comparison of its begin reads no JSON.
  const eventOf = Effect.fnUntraced(function* (runId: RunId, kind: EventKind, id: string) {
    const [event] = yield* sql<EventRow>`
      SELECT event->>'id' AS id, index FROM canonical_events
      WHERE run_id = ${runId}::uuid AND type = coalesce(${targetEventTypes[kind] ?? null}::text, type)
        AND starts_with(event::text, ${`{"id":"${id.toLowerCase()}"`}) LIMIT 1`
    return event && eventTarget(kind, event)
  })

  const isParticipant = (runId: RunId, id: string) =>
    Effect.map(
      sql`
        SELECT FROM canonical_events
        WHERE run_id = ${runId}::uuid AND type = 'participant.seen' AND event->'data'->>'participantId' = ${id} LIMIT 1`,
      (rows) => rows.length > 0
    )

  /** The model calls of spans, by the id of the span. */
  const callsOf = (runId: RunId, spanIds: ReadonlyArray<string>) =>
    Effect.map(
      sql<EventRow & { readonly span_id: string }>`
        SELECT event->>'id' AS id, index, event->'trace'->>'spanId' AS span_id FROM canonical_events
        WHERE run_id = ${runId}::uuid AND type = ${targetEventTypes.llmCall}
          AND event->'trace'->>'spanId' = ANY(${spanIds}::text[])`,
      (rows) => new Map(rows.map((row) => [row.span_id, eventTarget("llmCall", row)]))
    )

  /**
   * The target that a caller names. A decision without an id becomes the last one of the run. Fails with the reason,
   * naming `target.id`, when the run has no such target.
   */
  const resolve = Effect.fnUntraced(function* (runId: RunId, name: string, target: MarkTarget) {
    const problem = targetProblem(name, target)
    if (problem !== undefined) return yield* badRequest(problem)
    const { id, kind } = target
    if (kind === "run") return { target } satisfies ResolvedTarget
    if (id === undefined) {
      const last = kind === "decision" ? yield* lastDecision(runId) : undefined
      return last ?? (yield* badRequest("target.id is absent, and the run has no decision"))
    }
    if (kind === "participant") {
      if (yield* isParticipant(runId, id)) return { target } satisfies ResolvedTarget
      return yield* badRequest(`target.id must be a participant of the run that has events: ${id}`)
    }
    const found = isUuid(id) ? yield* eventOf(runId, kind, id) : undefined
    return found ?? (yield* badRequest(`target.id must be ${KINDS[kind]} of the run: ${id}`))
  })
  return { callsOf, isParticipant, lastDecision, resolve } as const
})

type EventKind = keyof typeof KINDS

const KINDS = { event: "an event", decision: "an event decision.finalized", llmCall: "an event llm.call.completed" }

const eventTarget = (kind: EventKind, { id, index }: EventRow): ResolvedTarget => ({ target: { kind, id }, index })
