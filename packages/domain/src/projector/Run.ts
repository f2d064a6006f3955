import type { EventOf, KnownEvent } from "../events/CanonicalEvent.ts"
import { isTerminal, type RunStatus } from "../run/RunStatus.ts"
import { boundName, boundTexts } from "../values/Bounds.ts"
import type { RunState } from "./RunState.ts"

type Run = RunState["run"]

/**
 * Folds the section `run`. The run.* events set the status of the record; the session's states change it in between,
 * and never change a terminal status.
 */
export const foldRun = (run: Run, event: KnownEvent): Run => {
  switch (event.type) {
    case "run.created":
      return { ...withIdentity(run, event), status: openStatus(run.status, "queued") }
    case "run.started":
      return {
        ...withIdentity(run, event),
        status: openStatus(run.status, "starting"),
        startedAt: boundName(event.data.startedAt ?? event.ts)
      }
    case "run.completed":
      return ended(run, event, "completed")
    case "run.failed":
      return ended(run, event, "failed")
    case "run.cancelled":
      return ended(run, event, "cancelled")
    case "run.corrected":
      return isTerminal(run.status) ? ended(run, event, event.data.status ?? run.status) : run
    case "run.suspended":
      return withStatus(run, openStatus(run.status, "suspended"))
    case "run.resumed":
      return withStatus(run, openStatus(run.status, "running"))
    case "session.bound":
      return bound(run, event)
    case "session.state.changed":
      return withContext(withStatus(run, statusOfSession(run.status, event.data.state)), event)
    case "session.stream.opened":
      return streamed(run, event)
    case "message.received":
      return sessionStarted(run, event)
    default:
      return run
  }
}

type EndEvent = EventOf<"run.completed" | "run.failed" | "run.cancelled" | "run.corrected">
type IdentityEvent = EventOf<"run.created" | "run.started"> | EndEvent
type SessionEvent = EventOf<"session.bound" | "session.state.changed">

const openStatus = (current: RunStatus, next: RunStatus): RunStatus => (isTerminal(current) ? current : next)

const withStatus = (run: Run, status: RunStatus): Run => (run.status === status ? run : { ...run, status })

const ended = (run: Run, event: EndEvent, status: RunStatus): Run => ({
  ...withIdentity(run, event),
  status,
  ...("startedAt" in event.data &&
    event.data.startedAt !== undefined && { startedAt: boundName(event.data.startedAt) }),
  endedAt: boundName(event.data.endedAt ?? event.ts)
})

const withIdentity = (run: Run, { data, trace }: IdentityEvent): Run => {
  const modeName = data.modeName ?? run.modeName
  const runtimeSessionId = data.runtimeSessionId ?? run.runtimeSessionId
  const traceId = data.traceId ?? trace?.traceId ?? run.traceId
  return {
    ...run,
    ...(modeName !== undefined && { modeName: boundName(modeName) }),
    ...(runtimeSessionId !== undefined && { runtimeSessionId: boundName(runtimeSessionId) }),
    ...(traceId !== undefined && { traceId: boundName(traceId) })
  }
}

const bound = (run: Run, event: EventOf<"session.bound">): Run => {
  const { initiator, modeName, sessionId } = event.data
  const isBinding = run.status === "queued" || run.status === "starting"
  return withContext(
    {
      ...run,
      status: isBinding ? "binding_session" : run.status,
      ...(modeName !== undefined && { modeName: boundName(modeName) }),
      ...(sessionId !== undefined && { runtimeSessionId: boundName(sessionId) }),
      ...(initiator !== undefined && { initiator: boundName(initiator) })
    },
    event
  )
}

const statusOfSession = (current: RunStatus, state: string | undefined): RunStatus => {
  if (isTerminal(current)) return current
  switch (state) {
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

/** Copies the session's context and, when its state just ended the run, the time of the end. */
const withContext = (run: Run, { data, ts }: SessionEvent): Run => {
  const { contextId, extensionKeys } = data
  const endedAt = isTerminal(run.status) && run.endedAt === undefined ? ts : undefined
  if (contextId === undefined && extensionKeys.length === 0 && endedAt === undefined) return run
  return {
    ...run,
    ...(contextId !== undefined && { contextId: boundName(contextId) }),
    ...(extensionKeys.length > 0 && { extensionKeys: boundTexts(extensionKeys) }),
    ...(endedAt !== undefined && { endedAt })
  }
}

/** Watching a bound session is running, also when its OPEN state was never reported to us. */
const streamed = (run: Run, { data: { status } }: EventOf<"session.stream.opened">): Run => {
  if (status === "gap") return run.historyGap === true ? run : { ...run, historyGap: true }
  const isWatching = status === "opened" || status === "recovered"
  return isWatching && run.status === "binding_session" ? { ...run, status: "running" } : run
}

const sessionStarted = (run: Run, { data: { sender, sessionStart } }: EventOf<"message.received">): Run => {
  if (sessionStart === undefined) return run
  const { intent = "", maxSuspendMs = 0 } = sessionStart
  return {
    ...run,
    ...(run.initiator === undefined && sender !== "" && { initiator: boundName(sender) }),
    ...(run.intent === undefined && intent !== "" && { intent: boundName(intent) }),
    ...(maxSuspendMs > 0 && { maxSuspendMs })
  }
}
