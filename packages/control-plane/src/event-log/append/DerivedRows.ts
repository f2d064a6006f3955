import type { Decision, RunInProgress } from "./EventFold.ts"
import type { SessionRows, StatusRows } from "./StatusRows.ts"

/** What is written because of what was decided: each table in one statement, however many appends share it. */
export interface DerivedRows {
  /** Of the runs whose metadata stay as they are. */
  readonly statuses: StatusRows
  /** Of the runs that are completed or failed: their metadata gain what their log says. */
  readonly ends: StatusRows
  readonly ended: ReadonlyArray<{ readonly run: RunInProgress; readonly error: string | undefined }>
  readonly sessions: SessionRows
  /** Runs whose log lacks envelopes. */
  readonly gaps: ReadonlyArray<string>
}

interface SessionNews {
  readonly at: string
  readonly state: string
  readonly connectedAt: string
  readonly disconnectedAt: string
}

/** What follows from the decisions of a transaction. Later ones of a run count over earlier ones. */
export const consequencesOf = (decisions: ReadonlyArray<Decision>): DerivedRows => {
  const sessions = new Map<string, SessionNews>()
  const gaps = new Set<string>()
  const changes = new Map<string, Decision>()
  for (const decision of decisions) {
    const { request } = decision.append
    if (request._tag === "Change" && decision.change === "applied") changes.set(request.runId, decision)
    const hear = (at: string, news: Partial<SessionNews>) => {
      const known = sessions.get(request.runId)
      sessions.set(request.runId, { state: "", connectedAt: "", disconnectedAt: "", ...known, ...news, at })
    }
    for (const draft of decision.drafts) {
      if (draft.type === "session.state.changed" && draft.data.state !== undefined) {
        hear(draft.ts, { state: draft.data.state })
      } else if (draft.type === "session.stream.opened") {
        const { status } = draft.data
        if (status === "opened" || status === "recovered") hear(draft.ts, { connectedAt: draft.ts })
        if (status === "closed" || status === "reconnecting") hear(draft.ts, { disconnectedAt: draft.ts })
        if (status === "gap") gaps.add(request.runId)
      }
    }
  }
  const statuses = noStatusRows()
  const ends = noStatusRows()
  const ended: Array<{ readonly run: RunInProgress; readonly error: string | undefined }> = []
  for (const { append, run } of changes.values()) {
    const failure = append.request._tag === "Change" ? append.request.failure : undefined
    const isEnriched = run.status === "completed" || run.status === "failed"
    if (isEnriched) ended.push({ run, error: failure?.errorMessage })
    addStatus(isEnriched ? ends : statuses, run, failure)
  }
  return { statuses, ends, ended, sessions: sessionRows(sessions), gaps: [...gaps] }
}

const noStatusRows = (): StatusRows => ({
  runId: [],
  status: [],
  revision: [],
  startedAt: [],
  endedAt: [],
  errorCode: [],
  errorMessage: []
})

const addStatus = (
  rows: StatusRows,
  run: RunInProgress,
  failure: { readonly errorCode: string; readonly errorMessage: string } | undefined
) => {
  rows.runId.push(run.head.run.id)
  rows.status.push(run.status)
  rows.revision.push(run.statusRevision)
  rows.startedAt.push(run.startedAt ?? "")
  rows.endedAt.push(run.endedAt ?? "")
  rows.errorCode.push(failure?.errorCode ?? "")
  rows.errorMessage.push(failure?.errorMessage ?? "")
}

const sessionRows = (sessions: ReadonlyMap<string, SessionNews>): SessionRows => {
  const news = [...sessions.values()]
  return {
    runId: [...sessions.keys()],
    at: news.map(({ at }) => at),
    state: news.map(({ state }) => state),
    connectedAt: news.map(({ connectedAt }) => connectedAt),
    disconnectedAt: news.map(({ disconnectedAt }) => disconnectedAt)
  }
}
