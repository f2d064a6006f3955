import { numberAt, textAt, textsAt } from "../JsonReader.ts"
import type { RunState } from "../RunState.ts"
import { isTerminal, type RunStatus } from "../RunStatus.ts"
import type { EventView } from "./EventView.ts"

type Run = RunState["run"]

/**
 * Folds the section `run` (http-details section 7, "run", "run.status"). The run.* events say the status of the record; the
 * session's states move it in between and never out of a terminal status.
 */
export const foldRun = (run: Run, view: EventView): Run => {
  const { data, ts } = view
  switch (view.event.type) {
    case "run.created":
      return { ...withIdentity(run, view), status: openStatus(run.status, "queued") }
    case "run.started":
      return {
        ...withIdentity(run, view),
        status: openStatus(run.status, "starting"),
        startedAt: textAt(data, "startedAt") ?? ts
      }
    case "run.completed":
      return ended(run, view, "completed")
    case "run.failed":
      return ended(run, view, "failed")
    case "run.cancelled":
      return ended(run, view, "cancelled")
    case "run.suspended":
      return withStatus(run, openStatus(run.status, "suspended"))
    case "run.resumed":
      return withStatus(run, openStatus(run.status, "running"))
    case "session.bound":
      return bound(run, view)
    case "session.state.changed":
      return withContext(withStatus(run, statusOfSession(run.status, view)), view, ts)
    case "session.stream.opened":
      return streamed(run, view)
    case "message.received":
      return view.messageType === "SessionStart" ? sessionStarted(run, view) : run
    default:
      return run
  }
}

const openStatus = (current: RunStatus, next: RunStatus): RunStatus => (isTerminal(current) ? current : next)

const withStatus = (run: Run, status: RunStatus): Run => (run.status === status ? run : { ...run, status })

const ended = (run: Run, view: EventView, status: RunStatus): Run => ({
  ...withIdentity(run, view),
  status,
  endedAt: textAt(view.data, "endedAt") ?? view.ts
})

const withIdentity = (run: Run, { data, event }: EventView): Run => {
  const modeName = textAt(data, "modeName") ?? run.modeName
  const runtimeSessionId = textAt(data, "runtimeSessionId", "sessionId") ?? run.runtimeSessionId
  const traceId = textAt(data, "traceId") ?? event.trace?.traceId ?? run.traceId
  return {
    ...run,
    ...(modeName !== undefined && { modeName }),
    ...(runtimeSessionId !== undefined && { runtimeSessionId }),
    ...(traceId !== undefined && { traceId })
  }
}

const bound = (run: Run, view: EventView): Run => {
  const modeName = textAt(view.data, "modeName")
  const runtimeSessionId = textAt(view.data, "sessionId")
  const initiator = textAt(view.data, "initiator")
  const isBinding = run.status === "queued" || run.status === "starting"
  return withContext(
    {
      ...run,
      status: isBinding ? "binding_session" : run.status,
      ...(modeName !== undefined && { modeName }),
      ...(runtimeSessionId !== undefined && { runtimeSessionId }),
      ...(initiator !== undefined && { initiator })
    },
    view,
    view.ts
  )
}

const statusOfSession = (current: RunStatus, view: EventView): RunStatus => {
  if (isTerminal(current)) return current
  switch (textAt(view.data, "state")?.replace(/^SESSION_STATE_/, "")) {
    case "OPEN":
      return "running"
    case "SUSPENDED":
      return "suspended"
    case "RESOLVED":
      return "completed"
    case "EXPIRED":
      return "failed"
    case "CANCELLED":
      return "cancelled"
    default:
      return current
  }
}

/** Takes over the session's context and, when its state just ended the run, the time of the end. */
const withContext = (run: Run, { data }: EventView, ts: string): Run => {
  const contextId = textAt(data, "contextId")
  const extensionKeys = textsAt(data, "extensionKeys")
  const endedAt = isTerminal(run.status) && run.endedAt === undefined ? ts : undefined
  if (contextId === undefined && extensionKeys.length === 0 && endedAt === undefined) return run
  return {
    ...run,
    ...(contextId !== undefined && { contextId }),
    ...(extensionKeys.length > 0 && { extensionKeys }),
    ...(endedAt !== undefined && { endedAt })
  }
}

/** Watching a bound session is running, also when its OPEN state was never reported to us (http-details section 5.1). */
const streamed = (run: Run, view: EventView): Run => {
  const status = textAt(view.data, "status")
  if (status === "gap") return run.historyGap === true ? run : { ...run, historyGap: true }
  const isWatching = status === "opened" || status === "recovered"
  return isWatching && run.status === "binding_session" ? { ...run, status: "running" } : run
}

const sessionStarted = (run: Run, { payload, sender }: EventView): Run => {
  const maxSuspendMs = numberAt(payload, "maxSuspendMs", "max_suspend_ms")
  const initiator = run.initiator === undefined && sender !== "" ? sender : undefined
  if (initiator === undefined && (maxSuspendMs === undefined || maxSuspendMs <= 0)) return run
  return {
    ...run,
    ...(initiator !== undefined && { initiator }),
    ...(maxSuspendMs !== undefined && maxSuspendMs > 0 && { maxSuspendMs })
  }
}
