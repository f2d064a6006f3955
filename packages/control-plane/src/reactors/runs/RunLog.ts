import { isTerminal } from "@runplane/domain"
import * as Effect from "effect/Effect"
import type { Reactor, WrittenAppend } from "../../event-log/append/Reactors.ts"

/** Logs a line for each run that starts or ends, once, in the process that appended the event. */
export const makeRunLog = Effect.gen(function* () {
  const log = Effect.runForkWith(yield* Effect.context())
  const logChange = ({ change, events, runId, state: { run } }: WrittenAppend) => {
    const about = { runId, sessionId: run.runtimeSessionId, traceId: run.traceId }
    if (events.some(({ type }) => type === "run.started")) {
      log(Effect.annotateLogs(Effect.logInfo("run started"), { ...about, mode: run.modeName }))
    }
    const correction = events.find((event) => event.type === "run.corrected")
    if (correction !== undefined) {
      const { error, status } = correction.data
      const fields = { ...about, status, ...(error !== undefined && { error }) }
      log(Effect.annotateLogs(Effect.logInfo(`run corrected: ${status}`), fields))
    }
    if (change === undefined || !isTerminal(change.to)) return
    const began = run.startedAt === undefined ? undefined : Date.parse(run.startedAt)
    const durationMs = began === undefined ? undefined : Math.max(0, Date.parse(run.endedAt ?? change.at) - began)
    log(
      Effect.annotateLogs(Effect.logInfo(`run ended: ${change.to}`), {
        ...about,
        status: change.to,
        ...(durationMs !== undefined && { durationMs }),
        ...(change.error !== undefined && { error: change.error })
      })
    )
  }
  return {
    afterCommit: (appends) => {
      for (const append of appends) logChange(append)
    }
  } satisfies Reactor
})
