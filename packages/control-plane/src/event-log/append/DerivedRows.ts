import type { Decision, RunInProgress } from "./EventFold.ts"
import type { SessionRow, StatusRow } from "./InsertEvents.ts"

/** The rows that follow from the events of a transaction: each table in one statement, for all its appends. */
export interface DerivedRows {
  /** Of the runs whose metadata stay the same. */
  readonly statuses: ReadonlyArray<StatusRow>
  /** The runs that are completed or failed now. */
  readonly ends: ReadonlyArray<{
    readonly run: RunInProgress
    readonly error: string | undefined
    /** Whether the run had another end before. */
    readonly isCorrected: boolean
    readonly row: StatusRow
  }>
  readonly sessions: ReadonlyArray<SessionRow>
  /** Runs whose log lacks envelopes. */
  readonly gaps: ReadonlyArray<string>
}

/** Later decisions of a run override earlier ones. */
export const derivedRows = (decisions: ReadonlyArray<Decision>): DerivedRows => {
  const sessions = new Map<string, SessionRow>()
  const gaps = new Set<string>()
  const changes = new Map<string, Decision>()
  for (const decision of decisions) {
    const { request } = decision.append
    const { runId } = request
    if (request._tag === "Change" && decision.change === "applied") changes.set(runId, decision)
    if (decision.correction !== undefined || decision.end !== undefined) changes.set(runId, decision)
    const update = (at: string, changed: Partial<SessionRow>) => {
      const known = sessions.get(runId) ?? { run_id: runId, state: null, connected_at: null, disconnected_at: null }
      sessions.set(runId, { ...known, ...changed, at })
    }
    for (const draft of decision.drafts) {
      if (draft.type === "session.state.changed" && draft.data.state !== undefined) {
        update(draft.ts, { state: draft.data.state })
      } else if (draft.type === "session.stream.opened") {
        const { status } = draft.data
        if (status === "opened" || status === "recovered") update(draft.ts, { connected_at: draft.ts })
        if (status === "closed" || status === "reconnecting") update(draft.ts, { disconnected_at: draft.ts })
        if (status === "gap") gaps.add(runId)
      }
    }
  }
  const statuses: Array<StatusRow> = []
  const ends: Array<DerivedRows["ends"][number]> = []
  for (const { append, correction, end, run } of changes.values()) {
    const failure = append.request._tag === "Change" ? append.request.failure : (correction ?? end)?.failure
    const row = {
      run_id: run.head.run.id,
      status: run.status,
      revision: run.statusRevision,
      started_at: run.startedAt ?? null,
      ended_at: run.endedAt ?? null,
      error_code: failure?.errorCode ?? null,
      error_message: failure?.errorMessage ?? null
    }
    if (run.status === "completed" || run.status === "failed") {
      ends.push({ run, error: failure?.errorMessage, isCorrected: correction !== undefined, row })
    } else statuses.push(row)
  }
  return { statuses, ends, sessions: [...sessions.values()], gaps: [...gaps] }
}
