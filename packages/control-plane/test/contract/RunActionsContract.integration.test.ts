import { contract, type Statement } from "./Contract.ts"
import { including, isCount, isText, listOf, TIMESTAMP, TRACE_ID, UUID } from "./Matching.ts"
import { RISK } from "./World.ts"

const ACCEPTED = { runId: UUID, sessionId: isText, status: "queued", traceId: TRACE_ID }

const read = (path: string, says: string, answer: unknown): Statement => ({
  says: `GET /runs/:id${path} ${says}`,
  given: "scripted",
  method: "GET",
  path: `/runs/:run${path}`,
  status: 200,
  answer
})

const action = (
  path: string,
  says: string,
  over: Pick<Statement, "given" | "status"> & Partial<Statement>
): Statement => ({ says: `POST /runs/:id/${path} ${says}`, method: "POST", path: `/runs/:run/${path}`, ...over })

contract("Runs, actions", [
  action("suspend", "suspends a running run", {
    given: "running",
    body: { reason: "x" },
    status: 201,
    answer: { status: "suspended" }
  }),
  action("suspend", "is refused otherwise", {
    given: "waiting",
    status: 400,
    answer: { errorCode: "VALIDATION_ERROR" }
  }),
  action("resume", "resumes a suspended run", { given: "suspended", status: 201, answer: { status: "running" } }),
  action("resume", "is refused otherwise", {
    given: "running",
    status: 400,
    answer: { errorCode: "VALIDATION_ERROR" }
  }),
  action("cancel", "by delegation ends the run", {
    given: "delegated",
    body: { reason: "x" },
    status: 201,
    answer: { status: "cancelled", endedAt: TIMESTAMP }
  }),
  action("cancel", "is refused without callback and delegation", { given: "running", status: 400 }),
  action("cancel", "is 409 for a run that has ended", {
    given: "completed",
    status: 409,
    answer: {
      errorCode: "INVALID_STATE_TRANSITION",
      message: /cannot transition run .* from 'completed' to 'cancelled'/
    }
  }),
  action("clone", "makes a new run", { given: "completed", status: 201, answer: ACCEPTED }),
  action("clone", "takes tags", { given: "completed", body: { tags: ["again"] }, status: 201, answer: ACCEPTED }),
  action("clone", "refuses a context that is not empty", {
    given: "completed",
    body: { context: { a: 1 } },
    status: 400,
    answer: { message: including("context cannot be overridden: it must be absent or empty") }
  }),
  action("archive", "sets archivedAt and adds the tag", {
    given: "completed",
    status: 201,
    answer: { archivedAt: TIMESTAMP, tags: ["nightly", "archived"] }
  }),
  {
    says: "DELETE /runs/:id removes a terminal run",
    given: "cancelled",
    method: "DELETE",
    path: "/runs/:run",
    status: 204,
    answer: ""
  },
  {
    says: "DELETE /runs/:id leaves nothing behind",
    given: "completed",
    after: [["DELETE", "/runs/:run"]],
    method: "GET",
    path: "/runs/:run",
    status: 404,
    answer: { errorCode: "RUN_NOT_FOUND" }
  },
  {
    says: "DELETE /runs/:id is refused for a run that goes on",
    given: "running",
    method: "DELETE",
    path: "/runs/:run",
    status: 400,
    answer: {
      errorCode: "VALIDATION_ERROR",
      message: "only terminal runs (completed, failed, cancelled) can be deleted"
    }
  },
  action("projection/rebuild", "folds the events again", {
    given: "scripted",
    status: 201,
    answer: { rebuilt: true, latestSeq: isCount, run: { status: "completed" } }
  }),
  action("artifacts", "creates an artifact", {
    given: "completed",
    body: { kind: "report", label: "r", inline: { a: 1 } },
    status: 201,
    answer: { id: UUID, kind: "report", label: "r", inline: { a: 1 }, createdAt: TIMESTAMP }
  }),
  action("artifacts", "refuses an unknown kind", {
    given: "completed",
    body: { kind: "film", label: "r" },
    status: 400
  }),
  ...["messages", "signal", "context"].map((removed) =>
    action(removed, "was removed", {
      given: "unknown",
      status: 410,
      answer: { statusCode: 410, errorCode: "ENDPOINT_REMOVED", message: isText }
    })
  )
])

const batch = (name: string, given: "completed" | "running" | "delegated", answer: unknown): Statement => ({
  says: `POST /runs/batch/${name} on a ${given} run`,
  given,
  method: "POST",
  path: `/runs/batch/${name}`,
  body: { runIds: [":run"] },
  status: 201,
  answer
})

contract("Runs, batches, comparison, replay and stream", [
  batch("cancel", "delegated", [{ runId: UUID, status: "cancelled" }]),
  batch("archive", "completed", [{ runId: UUID, status: "archived" }]),
  batch("unarchive", "completed", [{ runId: UUID, status: "unarchived" }]),
  batch("delete", "completed", [{ runId: UUID, status: "deleted" }]),
  batch("delete", "running", [{ runId: UUID, status: "failed", error: isText }]),
  batch("export", "completed", [{ run: { id: UUID }, canonicalEvents: listOf({}), rawEvents: [] }]),
  {
    says: "POST /runs/compare puts two runs side by side",
    given: "scripted",
    method: "POST",
    path: "/runs/compare",
    body: { leftRunId: ":run", rightRunId: ":run" },
    status: 201,
    answer: {
      left: { runId: UUID },
      right: { runId: UUID },
      statusMatch: true,
      participantsDiff: { common: including(RISK) }
    }
  },
  action("replay", "describes a replay", {
    given: "scripted",
    body: { mode: "instant", speed: 2, fromSeq: 1, toSeq: 9 },
    status: 201,
    answer: {
      runId: UUID,
      mode: "instant",
      speed: 2,
      streamUrl: /^\/runs\/.*\/replay\/stream\?/,
      stateUrl: /^\/runs\/.*\/replay\/state/
    }
  }),
  action("replay", "refuses an unknown mode", { given: "scripted", body: { mode: "fast" }, status: 400 }),
  ...["instant", "step"].map(
    (mode): Statement => ({
      says: `GET /runs/:id/replay/stream?mode=${mode} sends the events as SSE`,
      given: "scripted",
      method: "GET",
      path: `/runs/:run/replay/stream?mode=${mode}`,
      status: 200,
      answer: /^event: canonical_event\nid: \d+\ndata: \{.*"run\.created"/,
      answerHeaders: { "content-type": /^text\/event-stream/ }
    })
  ),
  read("/replay/state?seq=0", "is the state as of a seq", { run: { status: "queued" }, timeline: { totalEvents: 0 } }),
  read("/replay/state", "is the last state without one", { run: { status: "completed" } }),
  ...["afterSeq=-1", "heartbeatMs=999"].map(
    (query): Statement => ({
      says: `GET /runs/:id/stream?${query} is refused`,
      given: "scripted",
      method: "GET",
      path: `/runs/:run/stream?${query}`,
      status: 400,
      answer: { errorCode: "VALIDATION_ERROR" }
    })
  ),
  {
    says: "GET /runs/:id/stream sends a snapshot, the events after afterSeq with their seq as id, and ends with the run",
    given: "running",
    method: "GET",
    path: "/runs/:run/stream?afterSeq=0",
    endsRun: true,
    status: 200,
    answer:
      /^snapshot -\ncanonical_event seq run\.created\n[\s\S]*canonical_event seq run\.completed\n[\s\S]*snapshot -$/
  },
  {
    says: "GET /runs/:id/stream sends no first snapshot with includeSnapshot=false, and resumes after Last-Event-Id",
    given: "running",
    method: "GET",
    path: "/runs/:run/stream?includeSnapshot=false",
    headers: { "last-event-id": "0" },
    endsRun: true,
    status: 200,
    answer: /^canonical_event seq run\.created\n/
  }
])
