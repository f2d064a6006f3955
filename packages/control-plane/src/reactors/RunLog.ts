import { isTerminal } from "@runplane/domain"
import * as Effect from "effect/Effect"
import type { Reactor, WrittenAppend } from "../event-log/append/Reactors.ts"

/** Tells the log of the process of runs that start and end, each once, in the process that wrote it. */
export const makeRunLog = Effect.gen(function* () {
  const log = Effect.runForkWith(yield* Effect.context())
  const tell = ({ change, events, runId, state: { run } }: WrittenAppend) => {
    const about = { runId, sessionId: run.runtimeSessionId, traceId: run.traceId }
    if (events.some(({ type }) => type === "run.started")) {
      log(Effect.annotateLogs(Effect.logInfo("run started"), { ...about, mode: run.modeName }))
    }
    if (change === undefined || !isTerminal(change.to)) return
    const began = run.startedAt === undefined ? undefined : Date.parse(run.startedAt)
    const durationMs = began === undefined ? undefined : Math.max(0, Date.parse(change.at) - began)
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
      for (const append of appends) tell(append)
    }
  } satisfies Reactor
})
