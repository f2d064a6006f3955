import * as PgClient from "@effect/sql-pg/PgClient"
import { badRequest } from "@runplane/api"
import {
  isUuid,
  type MarkTarget,
  type MarkTargetKind,
  type RunId,
  targetEventTypes,
  targetProblem
} from "@runplane/domain"
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

/**
 * Finds the target of a mark in its run (docs/reference/marks.md#targets). A decision without an id becomes the last
 * one of the run. Fails with the reason, naming `target.id`, when the run has no such target.
 */
export const makeMarkTargets = Effect.map(PgClient.PgClient, (sql) => {
  const lastDecision = (runId: RunId) => sql<EventRow>`
    SELECT event->>'id' AS id, index FROM canonical_events
    WHERE run_id = ${runId}::uuid AND type = ${targetEventTypes.decision} ORDER BY seq DESC LIMIT 1`

  // The stored text of an event begins with its id; a comparison of its begin reads no JSON.
  const eventOf = (runId: RunId, kind: MarkTargetKind, id: string) => sql<EventRow>`
    SELECT event->>'id' AS id, index FROM canonical_events
    WHERE run_id = ${runId}::uuid AND type = coalesce(${targetEventTypes[kind] ?? null}::text, type)
      AND starts_with(event::text, ${`{"id":"${id.toLowerCase()}"`}) LIMIT 1`

  const isParticipant = (runId: RunId, id: string) =>
    Effect.map(
      sql`
        SELECT FROM canonical_events
        WHERE run_id = ${runId}::uuid AND type = 'participant.seen' AND event->'data'->>'participantId' = ${id} LIMIT 1`,
      (rows) => rows.length > 0
    )

  return Effect.fnUntraced(function* (runId: RunId, name: string, target: MarkTarget) {
    const problem = targetProblem(name, target)
    if (problem !== undefined) return yield* badRequest(problem)
    const { id, kind } = target
    if (kind === "run") return { target } satisfies ResolvedTarget
    if (kind === "participant") {
      if (id !== undefined && (yield* isParticipant(runId, id))) return { target } satisfies ResolvedTarget
      return yield* badRequest(`target.id must be a participant of the run that has events: ${id}`)
    }
    const [event] = id === undefined ? yield* lastDecision(runId) : isUuid(id) ? yield* eventOf(runId, kind, id) : []
    if (event !== undefined) return { target: { kind, id: event.id }, index: event.index } satisfies ResolvedTarget
    return yield* badRequest(
      id === undefined
        ? "target.id must be absent only for a run with a decision"
        : `target.id must be ${KINDS[kind]} of the run: ${id}`
    )
  })
})

const KINDS = { event: "an event", decision: "an event decision.finalized", llmCall: "an event llm.call.completed" }
